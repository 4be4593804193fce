"""``make crossvalidate-vision``: would the thresholds have been found without the deck that they are used on?

Each group of photographs (a deck, or one place and camera) is left out in turn. The thresholds are chosen anew on
all other groups, by one rule: as many cards named as go without a wrong name there, the stricter of equals. The group
left out is then scored with them. Pictures are analysed once; only what thresholds decide is done for each setting.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from bench import ENROLLED, chosen, labelled, rows, shared

from calibration.deck import enrol
from controller.cli.recognise import read_picture
from vision import ink, recognise, scan
from vision.corners import CornerReader, Demands, Face
from vision.pixels import Image
from vision.profiles import built_in, load_profile
from vision.recognise import Recogniser

#: Without a profile: network, likeness, lead, and the pair of one corner alone and of a loose index.
FREE = [
    Demands(network=n, rank_likeness=k, suit_likeness=k, rank_lead=m, suit_lead=m, alone=a, loose=b)
    for n, k, m, (a, b) in itertools.product(
        (0.7, 0.8, 0.9), (0.5, 0.6, 0.7), (0.005, 0.015, 0.03), ((0.9, 0.95), (0.95, 0.97), (0.98, 0.99))
    )
]
#: With the profile of this very deck.
OWN = [
    Demands(own_network=n, own_likeness=k, own_lead=m)
    for n, k, m in itertools.product((0.2, 0.35, 0.5), (0.6, 0.7, 0.8), (0.03, 0.06, 0.1))
]


@contextlib.contextmanager
def remembered() -> Iterator[None]:
    """While one picture is read again and again, what no threshold touches is computed once."""
    kept: list[Any] = []

    def once(work: Callable[..., Any], key: Callable[..., Any]) -> Callable[..., Any]:
        known: dict[Any, Any] = {}

        def asked(*args: Any, **named: Any) -> Any:
            name = key(*args, **named)
            if name not in known:
                known[name] = work(*args, **named)
                kept.append(args)  # no address is used twice
            return known[name]

        return asked

    def place(*arrays: Any) -> Any:
        return tuple((a.__array_interface__["data"][0], a.shape) for a in arrays)

    def bytes_of(*arrays: Any) -> Any:
        return tuple(np.asarray(a).tobytes() for a in arrays)

    evidence, known = CornerReader.evidence, {}

    def remembered_evidence(self: CornerReader, found: Any) -> list[Any]:
        names = [(id(face), index, len(decks)) for face, index, decks in found]
        new = [n for n, name in enumerate(names) if name not in known]
        for n, one in zip(new, evidence(self, [found[n] for n in new]), strict=True):
            known[names[n]] = one
            kept.append(found[n])
        return [known[name] for name in names]

    patches = [
        mock.patch.object(recognise, "locate", once(recognise.locate, lambda *_: 0)),
        mock.patch.object(recognise, "rectify", once(recognise.rectify, lambda _, quad: bytes_of(quad))),
        mock.patch.object(Face, "of", once(Face.of, lambda picture: place(picture))),
        mock.patch.object(Face, "turned", once(Face.turned, id)),
        mock.patch.object(Recogniser, "_pips", once(Recogniser._pips, lambda _, face: id(face))),
        mock.patch.object(CornerReader, "_candidates", once(CornerReader._candidates, lambda _, face: id(face))),
        mock.patch.object(CornerReader, "read_pips", once(CornerReader.read_pips, lambda _, face, p: (id(face), p))),
        mock.patch.object(CornerReader, "evidence", remembered_evidence),
        mock.patch.object(scan, "printed_parts", once(scan.printed_parts, lambda _: 0)),
        mock.patch.object(scan, "pairs", once(scan.pairs, tuple)),
        mock.patch.object(scan, "straighten", once(scan.straighten, lambda _, *ends: bytes_of(*ends))),
        mock.patch.object(ink, "redness", once(ink.redness, place)),
    ]
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        yield


def scored(row: dict[str, Any], named: Iterable[str]) -> tuple[int, int]:
    """(right, wrong), as ``score_photos.py`` counts."""
    truth, said = Counter(c["card"] for c in row["cards"] if c["card"] != "BACK"), Counter(named)
    wrong = sum((said - truth).values())
    return sum((truth & said).values()), wrong - (wrong > 0 and not row["complete"])


def each_setting(recogniser: Recogniser, image: Image, row: dict[str, Any], grid: list[Demands]) -> list[Any]:
    """(right, wrong) for each of ``grid``."""
    found = []
    with remembered():
        for demands in grid:
            recogniser.demand(demands)
            found.append(scored(row, [one.card for one in recogniser.read(image) if one.card]))
    return found


def analyse(folder: Path, out: Path, *, own: bool) -> None:
    """Append one line a picture to ``out``: its group, how many cards it shows, (right, wrong) for each setting."""
    every = rows(folder)
    done = {json.loads(line)["file"] for line in out.read_text().splitlines()} if out.exists() else set()
    groups = list(ENROLLED) if own else sorted({row["group"] for row in every})
    free = None if own else Recogniser(built_in())
    with out.open("a") as lines:
        for name in groups:
            group, picked = [row for row in every if row["group"] == name], []
            recogniser = free
            if recogniser is None:
                picked = chosen(group)
                layout = "beside" if ENROLLED[name] == "live-casino" else "over"
                profile, _ = enrol(
                    labelled(folder, picked), name.lower(), layout=layout, base=load_profile(ENROLLED[name])
                )
                recogniser = Recogniser([profile])
            for row in group:
                if row in picked or row["file"] in done:
                    continue
                image = read_picture(folder / "data" / "photos" / row["file"])
                cards = sum(c["card"] != "BACK" for c in row["cards"])
                told = each_setting(recogniser, image, row, OWN if own else FREE)
                lines.write(json.dumps({"file": row["file"], "group": name, "cards": cards, "told": told}) + "\n")
                lines.flush()
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def best(some: list[dict[str, Any]]) -> int:
    """The setting by the rule: fewest wrong, then most right, then the strictest."""
    told = np.array([row["told"] for row in some]).sum(axis=0)
    return max(range(len(told)), key=lambda n: (-int(told[n][1]), int(told[n][0]), n))


def wilson(count: int, of: int, z: float = 1.96) -> str:
    if not of:
        return "-"
    share, d = count / of, 1 + z * z / of
    half = z * (share * (1 - share) / of + z * z / (4 * of * of)) ** 0.5
    return f"[{(share + z * z / (2 * of) - half) / d:.3f}, {(share + z * z / (2 * of) + half) / d:.3f}]"


def report(path: Path, grid: list[Demands], keys: tuple[str, ...]) -> None:
    """A table by group, left out and not, and the sum of all."""
    told = [json.loads(line) for line in path.read_text().splitlines()]
    shipped = grid.index(Demands())
    print("| left out | cards | shipped: right, wrong | left out: right, wrong | recall | precision | chosen |")
    print("|---|---|---|---|---|---|---|")
    total = np.zeros(5, int)
    for name in sorted({row["group"] for row in told}):
        mine = [row for row in told if row["group"] == name]
        setting = best([row for row in told if row["group"] != name])
        sums = np.array([row["told"] for row in mine]).sum(axis=0)
        counts = [sum(row["cards"] for row in mine), *sums[shipped].tolist(), *sums[setting].tolist()]
        total += counts
        line(name, counts, " ".join(f"{dataclasses.asdict(grid[setting])[key]:g}" for key in keys))
    line("**all**", total.tolist(), "")
    everything = best(told)
    print(f"chosen on all groups: {[(key, dataclasses.asdict(grid[everything])[key]) for key in keys]}")


def line(name: str, counts: list[int], setting: str) -> None:
    cards, right, wrong, left, bad = counts
    recall = f"{left / cards:.3f} {wilson(left, cards)}" if cards else "-"
    precision = f"{left / (left + bad):.4f} {wilson(left, left + bad)}" if left + bad else "-"
    print(f"| {name} | {cards} | {right}, {wrong} | {left}, {bad} | {recall} | {precision} | {setting} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", help="free, own; both if left out")
    parser.add_argument(
        "--keep", type=Path, default=Path("build/crossvalidate"), help="where to go on from (default %(default)s)"
    )
    args = parser.parse_args()
    args.keep.mkdir(parents=True, exist_ok=True)
    kinds = {
        "free": (FREE, ("network", "rank_likeness", "rank_lead", "alone", "loose")),
        "own": (OWN, ("own_network", "own_likeness", "own_lead")),
    }
    for part in args.part or list(kinds):
        analyse(shared(), args.keep / f"{part}.jsonl", own=part == "own")
        print(f"\n{part}: thresholds {', '.join(kinds[part][1])}")
        report(args.keep / f"{part}.jsonl", *kinds[part])


if __name__ == "__main__":
    main()
