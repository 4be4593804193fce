"""Enrolling a deck: from labelled pictures of its cards to a profile, or to the reasons why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from controller.cards import RANKS, SUITS
from vision.corners import Face
from vision.glyphs import RANK_SIZE, SUIT_SIZE, Glyphs, rank_patch, suit_patch, unit
from vision.locate import locate, overlap, portrait
from vision.network import Network
from vision.pixels import Image, Plane, Points
from vision.profiles import BACK_SIZE, DeckProfile, Zone, no_backs
from vision.rectify import rectify
from vision.segment import FACE, Box, Index, find_beside, find_over

BACK: Final = "**"
#: A form of a glyph is kept for each so many samples, at most so many forms.
_FORMS: Final = 5
#: Two names whose typical glyphs are more alike than this cannot be told apart at a table.
TOO_ALIKE: Final = {"rank": 0.96, "suit": 0.985}
#: Of so many samples of a name or more, this share may look more like another before the pictures are bad.
_MANY: Final = 3
_STRAYS: Final = 0.5
#: The network is sure; it finds a label likely; it can read an index at all.
_SURE: Final = 0.9
_LIKELY: Final = 0.3
_LEGIBLE: Final = 0.2
#: From fewer corners no usual place of the index is learnt.
_PLACED: Final = 6


class EnrolmentError(Exception):
    """The pictures make no profile; each line says what is wrong."""


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """A card in a picture. ``quad`` (4 x 2, pixels) may be left out where the picture shows this card only."""

    file: str
    image: Image
    card: str
    quad: Points | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One glyph of one corner, as it will be compared; ``sure`` is the network's probability of its label, ``seen``
    the name that the network is sure of, if any."""

    file: str
    name: str
    patch: Plane
    sure: float
    seen: str


@dataclass(slots=True)
class Report:
    """What became of the pictures."""

    used: list[str] = field(default_factory=list)
    unused: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    borrowed: str = ""
    alike: list[tuple[str, str, float]] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class _Corner:
    label: Labelled
    face: Face
    index: Index
    sure: tuple[float, float]
    seen: tuple[str, str]


def enrol(
    labelled: Iterable[Labelled],
    name: str,
    *,
    layout: Literal["over", "beside"] = "over",
    corners: Literal[2, 4] = 2,
    pips: bool = True,
    card_mm: tuple[float, float] = (63.0, 88.0),
    base: DeckProfile | None = None,
) -> tuple[DeckProfile, Report]:
    """The profile of the deck in the pictures. Glyphs that no picture shows are taken from ``base``.

    Raises ``EnrolmentError`` if glyphs are missing and there is no ``base``, or cannot be told apart.
    """
    report, network = Report(), Network()
    read: list[_Corner] = []
    backs: list[Image] = []
    for one in labelled:
        quad = _place(one, report)
        if quad is None:
            continue
        face = Face.of(rectify(one.image, quad))
        if one.card == BACK:
            backs.append(np.asarray(cv2.resize(face.picture, BACK_SIZE, interpolation=cv2.INTER_AREA), np.uint8))
            report.used.append(one.file)
            continue
        found = [c for view in (face, face.turned()) for c in _corners(one, view, layout, network)]
        if not found:
            report.unused.append((one.file, f"{one.card}: no index was found"))
        read += found
    kept = _consistent(read, report)
    rank_zone, suit_zone = _zone([c.index.rank for c in kept]), _zone([c.index.suit for c in kept])
    ranks = [
        Sample(c.label.file, c.label.card[0], rank_patch(c.face.shares, c.index.rank), c.sure[0], c.seen[0])
        for c in kept
    ]
    suits = [
        Sample(c.label.file, c.label.card[1], suit_patch(c.face.shares, c.index.suit), c.sure[1], c.seen[1])
        for c in kept
    ]
    report.samples = ranks + suits
    own_ranks, own_suits = _forms(ranks, "rank", report), _forms(suits, "suit", report)
    own = "".join(dict.fromkeys("".join(n for n, _ in own_ranks + own_suits)))
    check_separable(_glyphs(own_ranks, own_suits), report)
    glyphs = _filled(own_ranks, own_suits, own, base, report)
    source = f"enrolled from {len(set(report.used))} pictures"
    pictures = np.stack(_different(backs)) if backs else no_backs()
    profile = DeckProfile(
        name, card_mm, layout, corners, pips, glyphs, pictures, rank_zone, suit_zone, source, own
    )  # fmt: skip
    return profile, report


def _place(one: Labelled, report: Report) -> Points | None:
    """Where the card lies: as labelled, sharpened by what is found there."""
    found = locate(one.image)
    if one.quad is not None:
        given = portrait(np.asarray(one.quad, np.float32).reshape(4, 2))
        near = [quad for quad in found if overlap(quad, given) > 0.9]
        return near[0] if near else given
    if len(found) == 1:
        return found[0]
    report.unused.append((one.file, f"{one.card}: {len(found)} cards were found, name the place of this one"))
    return None


def _corners(label: Labelled, face: Face, layout: str, network: Network) -> list[_Corner]:
    """The index of this corner: the candidate that is most like its label."""
    candidates = (find_over if layout == "over" else find_beside)(face.mask)
    if not candidates:
        return []
    boxes = [box for index in candidates for box in (index.rank, index.suit)]
    ranks, suits = network.read(network.patches((face.shares, box) for box in boxes))
    rank, suit = RANKS.index(label.card[0]), SUITS.index(label.card[1])
    sure = [(float(ranks[2 * n, rank]), float(suits[2 * n + 1, suit])) for n in range(len(candidates))]
    best = max(range(len(candidates)), key=lambda n: min(sure[n]))
    seen = _sure_name(ranks[2 * best], RANKS), _sure_name(suits[2 * best + 1], SUITS)
    return [_Corner(label, face, candidates[best], sure[best], seen)]


def _sure_name(row: Plane, names: str) -> str:
    top = int(row.argmax())
    return names[top] if top < len(names) and row[top] > _SURE else ""


def _consistent(read: Sequence[_Corner], report: Report) -> list[_Corner]:
    """Corners whose index lies where most have it; the others were not the index."""
    if not read:
        return []
    likely = [c for c in read if min(c.sure) > _LIKELY]
    rank, suit = _zone([c.index.rank for c in likely]), _zone([c.index.suit for c in likely])
    kept = []
    for c in read:
        if max(c.sure) < _LEGIBLE:
            report.dropped.append((c.label.file, f"{c.label.card}: an index that cannot be read, small or blurred"))
        elif min(c.sure) > _LIKELY if rank is None or suit is None else _there(rank, suit, c.index):
            kept.append(c)
            report.used.append(c.label.file)
        else:
            report.dropped.append((c.label.file, f"{c.label.card}: its index was found elsewhere than on most cards"))
    return kept


def _zone(boxes: Sequence[Box]) -> Zone | None:
    """The usual place; None if too few corners show it."""
    if len(boxes) < _PLACED:
        return None
    x, y, w, h = (float(v) for v in np.median(np.array(boxes, np.float64), axis=0))
    return Zone(*(round(v, 4) for v in (x / FACE[0], y / FACE[1], w / FACE[0], h / FACE[1])))


def _there(rank: Zone, suit: Zone, index: Index) -> bool:
    return _near(rank, index.rank) and _near(suit, index.suit)


def _near(zone: Zone, box: Box) -> bool:
    there = zone.on(FACE)
    dx = abs(box.x + box.w / 2 - there.x - there.w / 2) / FACE[0]
    dy = abs(box.y + box.h / 2 - there.y - there.h / 2) / FACE[1]
    return dx < 0.05 and dy < 0.035 and 0.75 < box.h / max(there.h, 1) < 1.3


def _forms(samples: Sequence[Sample], what: str, report: Report) -> list[tuple[str, NDArray[np.uint8]]]:
    """For each name its mean and the samples most unlike what is kept already, strays left out."""
    for s in samples:
        if s.seen and s.seen != s.name:
            raise EnrolmentError(f"{s.file}: labelled {what} {s.name}, but it looks like {s.seen}; check the label")
    means = {}
    for name in dict.fromkeys(s.name for s in samples):
        means[name] = unit(np.stack([s.patch.reshape(-1) for s in samples if s.name == name])).mean(axis=0)
    forms = []
    for name in means:
        mine = [s for s in samples if s.name == name]
        good = [s for s in mine if s.sure > _LIKELY and (s.seen or _nearest(s, means, samples) == name)]
        strays = sorted({s.file for s in mine if not any(s is other for other in good)})
        report.dropped += [(file, f"{what} {name} is unclear or looks more like another {what}") for file in strays]
        if len(mine) >= _MANY and len(mine) - len(good) > _STRAYS * len(mine):
            raise EnrolmentError(
                f"{what} {name}: {len(mine) - len(good)} of {len(mine)} samples are unclear or look like another "
                f"{what}; check label and sharpness of {', '.join(strays)}"
            )
        patches = [s.patch for s in good]
        if not patches:
            continue
        chosen = [np.mean(patches, axis=0), *_spread(patches)] if len(patches) > 1 else patches
        forms += [(name, np.asarray(np.clip(p * 255, 0, 255), np.uint8)) for p in chosen]
    return forms


def _nearest(sample: Sample, means: dict[str, NDArray[np.float32]], samples: Sequence[Sample]) -> str:
    """The name whose mean, this sample left out, is most like it."""
    row = unit(sample.patch.reshape(1, -1))[0]
    count = sum(s.name == sample.name for s in samples)
    scores = {}
    for name, mean in means.items():
        if name == sample.name:
            if count == 1:
                return name
            mean = (mean * count - row) / (count - 1)
        scores[name] = float(row @ mean / max(float(np.linalg.norm(mean)), 1e-6))
    return max(scores, key=lambda name: scores[name])


def _spread(patches: Sequence[Plane]) -> list[Plane]:
    """A few patches that differ most from each other."""
    rows = unit(np.stack([p.reshape(-1) for p in patches]))
    chosen = [0]
    while len(chosen) < min(_FORMS, len(patches)):
        likeness = (rows @ rows[chosen].T).max(axis=1)
        chosen.append(int(likeness.argmin()))
    return [patches[n] for n in dict.fromkeys(chosen)]


def _filled(
    ranks: list[tuple[str, NDArray[np.uint8]]],
    suits: list[tuple[str, NDArray[np.uint8]]],
    own: str,
    base: DeckProfile | None,
    report: Report,
) -> Glyphs:
    """Own glyphs, and of ``base`` those that are missing."""
    missing = [name for name in RANKS + SUITS if name not in own]
    if missing and base is None:
        raise EnrolmentError(
            f"no picture shows {' '.join(missing)}: add pictures, or take these glyphs from a built-in deck (--base)"
        )
    report.borrowed = "".join(missing)
    if base is not None:
        other = base.glyphs
        ranks = ranks + [(n, p) for n, p in zip(other.rank_names, other.ranks, strict=True) if n in missing]
        # Pips are larger than the index: its suits alone would not do for them.
        suits = suits + list(zip(other.suit_names, other.suits, strict=True))
    return _glyphs(ranks, suits)


def _glyphs(ranks: list[tuple[str, NDArray[np.uint8]]], suits: list[tuple[str, NDArray[np.uint8]]]) -> Glyphs:
    def stacked(forms: list[tuple[str, NDArray[np.uint8]]], size: tuple[int, int]) -> NDArray[np.uint8]:
        return np.stack([p for _, p in forms]) if forms else np.zeros((0, size[1], size[0]), np.uint8)

    rank_names, suit_names = "".join(n for n, _ in ranks), "".join(n for n, _ in suits)
    return Glyphs(stacked(ranks, RANK_SIZE), rank_names, stacked(suits, SUIT_SIZE), suit_names)


def check_separable(glyphs: Glyphs, report: Report) -> None:
    """Refuse glyphs that cannot be told apart."""
    for what, pictures, names in (
        ("rank", glyphs.ranks, glyphs.rank_names),
        ("suit", glyphs.suits, glyphs.suit_names),
    ):
        if not names:
            continue
        rows = unit(pictures.reshape(len(names), -1).astype(np.float32))
        present = list(dict.fromkeys(names))
        means = {n: rows[[k for k, m in enumerate(names) if m == n]].mean(axis=0) for n in present}
        for k, a in enumerate(present):
            for b in present[k + 1 :]:
                norm = float(np.linalg.norm(means[a]) * np.linalg.norm(means[b]))
                likeness = float(means[a] @ means[b]) / max(norm, 1e-6)
                if likeness > TOO_ALIKE[what]:
                    report.alike.append((a, b, round(likeness, 3)))
    if report.alike:
        pairs = ", ".join(f"{a} and {b} ({likeness})" for a, b, likeness in report.alike)
        raise EnrolmentError(
            f"these glyphs cannot be told apart: {pairs}; take sharper or larger pictures, and check the labels"
        )


def _different(backs: Sequence[Image]) -> list[Image]:
    """Backs that are not nearly the same picture, at most four."""
    kept: list[Image] = []
    for back in backs:
        if all(float(np.abs(back.astype(np.int16) - other).mean()) > 18 for other in kept) and len(kept) < 4:
            kept.append(back)
    return kept
