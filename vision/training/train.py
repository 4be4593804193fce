"""Train the index network on rendered glyphs and write it with its figures: ``make train``.

Needs PyTorch, Pillow, the free decks and fonts of ``make train``; nothing of this runs in the program or its tests.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from controller.cards import RANKS, SUITS
from vision.network import SIZE
from vision.training import samples, tiles
from vision.training.tiles import NO_RANK, NO_SUIT, Tile

#: Decks that are only for validation, and every so-many-th font.
HELD_OUT: Final = ("gnome-simplistic", "gnome-tigullio", "gnome-plastic", "gnome-paris")
_NTH_FONT: Final = 8
_BATCH: Final = 128
#: Batches of the shipped model.
STEPS: Final = 4000
_STYLES: Final = ("Thin", "Hairline", "Mono", "Z003", "Script", "chorus", "cursor", "D050", "Symbols", "RZI", "_K")
_SLANTED: Final = ("Italic", "Oblique", "italic", "It.", "_RI", "_RBI", "BdIta")


class IndexNet(nn.Module):  # type: ignore[misc]
    """Three stages, 32, 16 and 8 pixels wide, then a small hidden layer and both heads side by side."""

    def __init__(self) -> None:
        super().__init__()

        def block(inputs: int, outputs: int) -> list[nn.Module]:
            return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]

        self.features = nn.Sequential(
            *block(1, 16), nn.MaxPool2d(2),
            *block(16, 32), nn.MaxPool2d(2),
            *block(32, 48), *block(48, 64), nn.MaxPool2d(2),
            *block(64, 64), nn.Flatten(),
        )  # fmt: skip
        self.hidden = nn.Sequential(nn.Dropout(0.2), nn.Linear(64 * 16, 56), nn.ReLU(), nn.Dropout(0.1))
        self.heads = nn.Linear(56, NO_RANK + 1 + NO_SUIT + 1)

    def forward(self, patches: torch.Tensor) -> torch.Tensor:
        """Scores: ranks, no rank, suits, no suit."""
        scores: torch.Tensor = self.heads(self.hidden(self.features(patches)))
        return scores


def font_files(folder: Path) -> list[Path]:
    """Fonts whose figures can stand on a card; of the slanted ones every fifth."""
    found = [
        f for f in sorted(folder.rglob("*")) if f.suffix in (".ttf", ".otf") and not any(s in f.name for s in _STYLES)
    ]
    slanted = [f for f in found if any(s in f.name for s in _SLANTED)]
    return sorted(set(found) - set(slanted)) + slanted[::5]


def split(every: list[Tile]) -> tuple[list[Tile], list[Tile]]:
    """Training and validation, by deck and by font."""
    fonts = sorted({t.source for t in every if "." in t.source})
    held = {*HELD_OUT, *fonts[::_NTH_FONT]}
    return [t for t in every if t.source not in held], [t for t in every if t.source in held]


def balanced(every: list[Tile]) -> list[Tile]:
    """Tiles repeated so that ranks, suits and the rest are drawn about equally often."""
    ranks = [t for t in every if t.rank != NO_RANK]
    suits = [t for t in every if t.suit != NO_SUIT]
    rest = [t for t in every if t.rank == NO_RANK and t.suit == NO_SUIT]
    decks = [t for t in ranks if "." not in t.source]
    return ranks + decks * 2 + suits * max(1, round(1.1 * len(ranks + decks) / max(len(suits), 1))) + rest


def loss_of(scores: torch.Tensor, rank: torch.Tensor, suit: torch.Tensor) -> torch.Tensor:
    """Sum of both heads' losses."""
    entropy = nn.functional.cross_entropy
    ranks, suits = scores[:, : NO_RANK + 1], scores[:, NO_RANK + 1 :]
    return entropy(ranks, rank, label_smoothing=0.02) + entropy(suits, suit, label_smoothing=0.02)


def figures(net: IndexNet, patches: torch.Tensor, rank: torch.Tensor, suit: torch.Tensor) -> dict[str, float]:
    """Accuracy of both heads on patches of held-out decks and fonts, and how often a confident name is wrong."""
    net.eval()
    with torch.no_grad():
        scores = torch.cat([net(part) for part in patches.split(512)])
    net.train()
    answer: dict[str, float] = {}
    for name, part, truth, none in (
        ("rank", scores[:, : NO_RANK + 1], rank, NO_RANK),
        ("suit", scores[:, NO_RANK + 1 :], suit, NO_SUIT),
    ):
        sure, said = part.softmax(1).max(1)
        named = (said != none) & (sure > 0.9)
        answer[f"{name}_accuracy"] = round(float((said == truth).float().mean()), 4)
        answer[f"{name}_named"] = round(float(named[truth != none].float().mean()), 4)
        answer[f"{name}_wrong_of_named"] = round(float((said != truth)[named].float().mean()), 4)
    return answer


def train(every: list[Tile], seed: int, steps: int, start: Path | None) -> tuple[IndexNet, dict[str, Any]]:
    """Train for ``steps``, from the weights ``start`` if given. No clock takes part: equal seed, tiles and steps give
    equal weights."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    learn, check = split(every)
    pool = balanced(learn)
    valid = [torch.from_numpy(a) for a in samples.batch(balanced(check), 2000, np.random.default_rng(seed + 1))]
    net, began = IndexNet(), time.process_time()
    if start is not None:
        net.load_state_dict(torch.load(start))
    peak = 2e-3 if start is None else 1e-3
    optimiser = torch.optim.AdamW(net.parameters(), lr=peak, weight_decay=1e-3)
    for step in range(1, steps + 1):
        for group in optimiser.param_groups:
            group["lr"] = peak * min(1.0, step / 100) * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * step / steps)))
        patches, rank, suit = (torch.from_numpy(a) for a in samples.batch(pool, _BATCH, rng))
        optimiser.zero_grad()
        loss = loss_of(net(patches), rank, suit)
        loss.backward()
        optimiser.step()
        if step % 100 == 0:
            spent = time.process_time() - began
            print(f"step {step} loss {loss.item():.3f} cpu {spent:.0f} s {figures(net, *valid)}", flush=True)
    final = figures(net, *valid)
    return net, {
        "steps": steps,
        "patches": steps * _BATCH,
        "tiles": len(learn),
        "held_out_tiles": len(check),
        **final,
    }


def export(net: IndexNet, out: Path, record: dict[str, Any]) -> None:
    """Write the model and, beside it, how it came to be."""
    net.eval()
    torch.save(net.state_dict(), out.with_suffix(".pt"))
    torch.onnx.export(
        net, (torch.zeros(1, 1, SIZE, SIZE),), str(out), input_names=["patches"], output_names=["scores"],
        dynamic_axes={"patches": {0: "n"}, "scores": {0: "n"}}, opset_version=13, dynamo=False,
    )  # fmt: skip
    record["parameters"] = sum(p.numel() for p in net.parameters())
    record["sha256"] = hashlib.sha256(out.read_bytes()).hexdigest()
    record["classes"] = {"rank": f"{RANKS} none", "suit": f"{SUITS} none"}
    out.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record))


def main() -> None:
    """Command line of ``make train``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decks", type=Path, required=True, help="folder that vision.training.art wrote")
    parser.add_argument("--fonts", type=Path, required=True, help="folder with fonts, searched below")
    parser.add_argument("--out", type=Path, required=True, help="the model to write, such as index.onnx")
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--start", type=Path, help="weights (.pt) of an earlier run to go on from")
    args = parser.parse_args()
    every = tiles.from_decks(args.decks) + tiles.from_fonts(font_files(args.fonts), args.seed)
    net, record = train(every, args.seed, args.steps, args.start)
    export(net, args.out, {"seed": args.seed, "torch": torch.__version__, "held_out": list(HELD_OUT), **record})


if __name__ == "__main__":
    main()
