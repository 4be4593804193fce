"""Draw the faces of the free decks as pictures: the first step of ``make train``."""

from __future__ import annotations

import argparse
from pathlib import Path

from vision.training import art


def main() -> None:
    """Command line of ``make train``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--npm", type=Path, required=True, help="the unpacked npm package")
    parser.add_argument("--debian", type=Path, required=True, help="root into which the Debian packages are unpacked")
    parser.add_argument("--out", type=Path, required=True, help="folder for DECK/CARD.png")
    args = parser.parse_args()
    print(art.write(args.out, art.heruka(args.npm)), "faces of the npm package", flush=True)
    print(art.write(args.out, art.gnome(args.debian)), "faces of gnome-cards-data", flush=True)


if __name__ == "__main__":
    main()
