"""``make bench-vision``: the recogniser on the labelled photographs and clips, as a table.

Needs the shared material (``DEALERD_SHARED``, or a folder ``shared`` beside the project). Enrolled: for each group a
profile is made from some of its pictures, chosen so that they show every rank and suit; those are not scored.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from calibration.deck import Labelled, enrol
from controller.cards import is_card
from controller.cli.recognise import answer, read_picture
from vision.film import events
from vision.layout import load
from vision.profiles import built_in, load_profile
from vision.recognise import Recogniser

ENROLLED = {
    "sergio": "standard",
    "jaxon": "standard",
    "avg": "standard",
    "Testing1": "live-casino",
    "Testing2": "live-casino",
}
PLACES = {"P": "player", "B": "banker"}


def shared() -> Path:
    found = Path(os.environ.get("DEALERD_SHARED", Path(__file__).parents[3] / "shared"))
    if not (found / "data" / "photos" / "labels.jsonl").exists():
        sys.exit(f"{found}: holds no photographs; name the folder with DEALERD_SHARED")
    return found


def rows(folder: Path) -> list[dict[str, Any]]:
    with (folder / "data" / "photos" / "labels.jsonl").open() as lines:
        return [json.loads(line) for line in lines]


def chosen(group: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pictures that show every rank and suit of the group, as few as greed finds, at most a third."""
    left, seen, picked = sorted(group, key=lambda row: row["file"]), set(), []
    while left and len(picked) < len(group) / 3:
        row = max(left, key=lambda row: (len(names(row) - seen), -left.index(row)))
        if not names(row) - seen:
            break
        seen |= names(row)
        picked.append(row)
        left.remove(row)
    return picked


def names(row: dict[str, Any]) -> set[str]:
    cards = [c["card"] for c in row["cards"] if c["quad"] is not None and c["visibility"] == "full"]
    return {name for card in cards if is_card(card) for name in card}


def labelled(folder: Path, picked: Iterable[dict[str, Any]]) -> list[Labelled]:
    found = []
    for row in picked:
        image = read_picture(folder / "data" / "photos" / row["file"])
        for card in row["cards"]:
            if card["quad"] is not None and card["visibility"] == "full":
                name = card["card"] if is_card(card["card"]) else "**"
                found.append(Labelled(row["file"], image, name, np.asarray(card["quad"], np.float32)))
    return found


def predict(folder: Path, recogniser: Recogniser, some: Iterable[dict[str, Any]], out: Path) -> None:
    """Recognise and write what ``score_photos.py`` reads."""
    with out.open("a") as lines:
        for row in some:
            image = read_picture(folder / "data" / "photos" / row["file"])
            begun = time.perf_counter()
            found = recogniser.read(image)
            spent = (time.perf_counter() - begun) * 1000
            lines.write(json.dumps({"file": row["file"], **answer(found), "ms": round(spent, 1)}) + "\n")
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def score(folder: Path, predictions: Path, *options: str) -> dict[str, Any]:
    labels = folder / "data" / "photos" / "labels.jsonl"
    command = [
        sys.executable,
        str(folder / "tools" / "score_photos.py"),
        str(labels),
        str(predictions),
        "--json",
        *options,
    ]
    answered: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return answered


def line(name: str, figures: dict[str, Any]) -> None:
    print(
        f"{name:12} photos {figures['photos']:4} cards {figures['labelled']:4} right {figures['right']:4} "
        f"wrong {figures['wrong']:2}  P {figures['precision']} {figures['precision_95']}  "
        f"R {figures['recall']} {figures['recall_95']}  named on empty {figures['false_on_empty']}",
        flush=True,
    )


def enrolled(folder: Path, every: list[dict[str, Any]], work: Path, groups: list[str]) -> None:
    predictions, used = work / "enrolled.jsonl", work / "used.txt"
    predictions.write_text("")
    files = []
    for name in groups:
        group = [row for row in every if row["group"] == name]
        picked = chosen(group)
        files += [row["file"] for row in picked]
        beside = "beside" if ENROLLED[name] == "live-casino" else "over"
        profile, _ = enrol(labelled(folder, picked), name.lower(), layout=beside, base=load_profile(ENROLLED[name]))
        print(f"{name}: enrolled from {len(picked)} of {len(group)} pictures, own glyphs {profile.own}", flush=True)
        predict(folder, Recogniser([profile]), [row for row in group if row not in picked], predictions)
    used.write_text("\n".join(files))
    figures = score(folder, predictions, "--by", "group", "--groups", ",".join(groups), "--exclude-files", str(used))
    for name, part in figures["by"].items():
        line(name, part)
    line("enrolled", figures)


def unprofiled(folder: Path, every: list[dict[str, Any]], work: Path, groups: list[str]) -> None:
    predictions = work / "all.jsonl"
    predictions.write_text("")
    some = [row for row in every if not groups or row["group"] in groups]
    predict(folder, Recogniser(built_in()), some, predictions)
    options = ["--by", "group", *(["--groups", ",".join(groups)] if groups else [])]
    figures = score(folder, predictions, *options)
    for name, part in figures["by"].items():
        line(name, part)
    line("all", figures)
    print("median ms a picture", figures["median_ms"])


def clips(folder: Path) -> None:
    truth = json.loads((folder / "data" / "clips" / "events.json").read_text())
    for number in (1, 2):
        name = f"Testing{number}.mp4"
        layout = load(f"live-baccarat-{number}")
        recogniser = Recogniser([load_profile("live-casino")], layout.geometry())
        told = [
            (e.position, e.card)
            for e in events(folder / "data" / "clips" / name, recogniser, layout)
            if is_card(e.card or "")
        ]
        due = [(f"{PLACES[place[0]]}/{int(place[1:]) - 1}", card) for place, card, _ in truth[name]["deal_order"]]
        wrong = [event for event in told if event not in due]
        print(
            f"{name}: {len(told)} told of {len(due)}, wrong {len(wrong)}, in order {told == due}: {told}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", help="enrolled, all, clips; everything if left out")
    parser.add_argument("--groups", default="", help="only these groups of photographs, comma separated")
    parser.add_argument("--keep", type=Path, help="folder for the predictions")
    args = parser.parse_args()
    parts = args.part or ["clips", "enrolled", "all"]
    groups = [name for name in args.groups.split(",") if name]
    with tempfile.TemporaryDirectory() as scratch:
        work = args.keep or Path(scratch)
        work.mkdir(parents=True, exist_ok=True)
        folder = shared()
        if "clips" in parts:
            clips(folder)
        if "enrolled" in parts:
            enrolled(folder, rows(folder), work, [name for name in ENROLLED if not groups or name in groups])
        if "all" in parts:
            unprofiled(folder, rows(folder), work, groups)


if __name__ == "__main__":
    main()
