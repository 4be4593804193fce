"""The calibration of a table's camera as versions: files that are written once and never changed.

The layout that the table file names is a version; new ones, and profiles of decks, lie in a folder beside the
journal. A version comes into use when ``[camera]`` of the table file names it and the camera service starts anew. Who
saved what and why is a fact of the journal; ``versions.jsonl`` in the folder says it again, for a quick answer.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from controller.cards import RANKS, SUITS
from controller.commands import CalibrationGet, CalibrationPut
from controller.config import Loaded
from controller.frames import iso_ms
from controller.refusal import Refusal

_VERSION: Final = re.compile(r"(?P<stem>.+)-v(?P<version>\d{1,6})")
_INDEX: Final = "versions.jsonl"
Json = dict[str, Any]


class Version(NamedTuple):
    """One version of one layout or deck. ``file``: a path, or the name of something built in."""

    number: int
    file: str


def split(file: str) -> tuple[str, int]:
    """(name, version) of a layout or profile by its file's name; one without a version is the first."""
    stem = Path(file).stem if Path(file).suffix else file
    found = _VERSION.fullmatch(stem)
    return (found["stem"], int(found["version"])) if found else (stem, 1)


@dataclass(frozen=True)
class Shelf:
    """What one table's camera uses (``layout``, ``profiles``), and the folder of new versions."""

    folder: str
    layout: str
    profiles: tuple[str, ...]

    @classmethod
    def of(cls, loaded: Loaded) -> Shelf | None:
        """The shelf of a table file; None for a table without a camera."""
        camera = loaded.camera
        if camera is None:
            return None
        return cls(str(loaded.journal.with_suffix(".calibration")), camera.layout, camera.profiles)

    # --- questions -----------------------------------------------------------------------------------------

    def get(self, args: CalibrationGet) -> Json:
        """The data of the answer. Raises ``Refusal`` (``not_found``)."""
        name, versions, active = self._family(args.deck)
        if not versions:
            known = ", ".join(self._decks()) or "none"
            raise Refusal("not_found", f"no deck {name[:40]!r} at this table", expected=known)
        number = args.version if args.version is not None else active if args.deck is None else versions[-1].number
        chosen = next((one for one in versions if one.number == number), None)
        if chosen is None:
            there = ", ".join(str(one.number) for one in versions)
            raise Refusal("not_found", f"{name} has no version {number}", expected=there)
        told = self._told()
        found: Json = {
            "kind": "layout" if args.deck is None else "deck",
            "name": name,
            "version": chosen.number,
            "newest": versions[-1].number,
            "active": active,
            "file": chosen.file,
            "document": _document(chosen.file, deck=args.deck is not None),
            "versions": [
                {"version": one.number, "file": one.file, "active": one.number == active}
                | {key: told.get(one.file, {}).get(key) for key in ("saved_at", "saved_by", "reason", "sha256")}
                for one in versions
            ],
        }
        return found | ({"decks": self._decks()} if args.deck is None else {})

    # --- new versions --------------------------------------------------------------------------------------

    def put(self, args: CalibrationPut, by: str, at_ms: int) -> Json:
        """Write a new version and say which. Raises ``Refusal``: ``stale``; ``bad_args``, naming what in the document
        is wrong; ``no_space`` where the folder cannot be written."""
        name, versions, _ = self._family(args.deck)
        newest = versions[-1] if versions else Version(0, "")
        number = newest.number + 1
        if args.deck is None:
            file = Path(self.folder) / f"{name}-v{number}{Path(self.layout).suffix or '.toml'}"
            body = self._layout_bytes(args.document, file)
        else:
            file = Path(self.folder) / f"{name}-v{number}.json"
            body = _profile_bytes(args.document, args.deck)
        if newest.file and _same(newest.file, args.document, deck=args.deck is not None):
            if args.seen_version != newest.number - 1:
                raise Refusal("bad_args", f"nothing was changed: version {newest.number} of {name} says the same")
            return _saved(args, name, newest, _digest(Path(newest.file)))  # it was saved, but nobody heard so
        if args.seen_version != newest.number:
            by_whom = self._told().get(newest.file, {}).get("saved_by") or "somebody"
            raise Refusal(
                "stale",
                f"version {newest.number} of {name} was saved by {by_whom}, you saw {args.seen_version}; look again",
                expected=f"seen_version {newest.number}",
            )
        try:
            _write_once(file, body)
            made = _saved(args, name, Version(number, str(file)), hashlib.sha256(body).hexdigest())
            self._note(made, args.reason, by, at_ms)
        except OSError as error:
            raise Refusal("no_space", f"{file} cannot be written: {error.strerror or error}") from error
        return made

    def _family(self, deck: str | None) -> tuple[str, list[Version], int | None]:
        """(name, versions in order, the one in use or None) of the layout or of a deck."""
        if deck is None:
            name, active = split(self.layout)
            return name, self._versions(name, {active: self.layout}, (".toml", ".json")), active
        used = {split(profile)[1]: profile for profile in self.profiles if split(profile)[0] == deck}
        return deck, self._versions(deck, used, (".json",)), max(used, default=None)

    def _versions(self, name: str, used: dict[int, str], suffixes: tuple[str, ...]) -> list[Version]:
        found = {}
        with contextlib.suppress(OSError):
            for path in Path(self.folder).iterdir():
                match = _VERSION.fullmatch(path.stem)
                if match and match["stem"] == name and path.suffix in suffixes:
                    found[int(match["version"])] = str(path)
        return [Version(*item) for item in sorted((found | used).items())]

    def _decks(self) -> list[str]:
        """Decks in use, then those that only lie on the shelf."""
        found = [split(profile)[0] for profile in self.profiles]
        layout = split(self.layout)[0]
        with contextlib.suppress(OSError):
            found += sorted(
                split(p.name)[0] for p in Path(self.folder).glob("*-v*.json") if split(p.name)[0] != layout
            )
        return list(dict.fromkeys(found))

    def _layout_bytes(self, document: Json, file: Path) -> bytes:
        """``document`` checked, as a file. Raises ``Refusal``."""
        from vision.layout import Layout, save

        try:
            layout = msgspec.structs.replace(msgspec.convert(document, Layout), name=file.stem)
        except msgspec.ValidationError as error:
            raise Refusal("bad_args", f"document: {error}") from error
        used = set(_document(self.layout, deck=False)["positions"])
        faults = [f"position {one!r} is missing" for one in sorted(used - set(layout.positions))]
        faults += [f"position {one!r} is none of this table's" for one in sorted(set(layout.positions) - used)]
        faults = faults or layout.problems()
        if faults:
            raise Refusal("bad_args", "document: " + "; ".join(faults))
        with tempfile.TemporaryDirectory() as scratch:
            save(layout, Path(scratch) / file.name)
            return (Path(scratch) / file.name).read_bytes()

    # --- who saved what ------------------------------------------------------------------------------------

    def _note(self, made: Json, reason: str, by: str, at_ms: int) -> None:
        line = made | {"saved_at": iso_ms(at_ms), "saved_by": by, "reason": reason}
        with (Path(self.folder) / _INDEX).open("ab") as out:
            out.write(msgspec.json.encode(line) + b"\n")
            out.flush()
            os.fsync(out.fileno())

    def _told(self) -> dict[str, Json]:
        """What ``versions.jsonl`` says, by file; a torn line says nothing."""
        return {str(one["file"]): one for one in self._lines()}

    def _lines(self) -> Iterator[Json]:
        with contextlib.suppress(OSError):
            for line in (Path(self.folder) / _INDEX).read_bytes().splitlines():
                with contextlib.suppress(msgspec.DecodeError, KeyError, TypeError):
                    found: Json = msgspec.json.decode(line)
                    found["file"]
                    yield found


def _document(file: str, *, deck: bool) -> Json:
    """A layout or profile as JSON. Raises ``Refusal`` (``not_found``) for one that cannot be read."""
    from vision.layout import LayoutError, load
    from vision.profiles import ProfileError, encode_profile, load_profile

    try:
        found: Json = (
            msgspec.json.decode(encode_profile(load_profile(file))) if deck else msgspec.to_builtins(load(file))
        )
    except (LayoutError, ProfileError) as error:
        raise Refusal("not_found", str(error)) from error
    return dict(found)


def _same(file: str, document: Json, *, deck: bool) -> bool:
    """``document`` says what ``file`` says, whatever it is called."""
    with contextlib.suppress(Refusal):
        there, given = _document(file, deck=deck), msgspec.json.decode(msgspec.json.encode(document))
        return msgspec.json.encode(there | {"name": ""}, order="sorted") == msgspec.json.encode(
            given | {"name": ""}, order="sorted"
        )
    return False


def _profile_bytes(document: Json, deck: str) -> bytes:
    """A deck's profile, checked, as a file. Raises ``Refusal``."""
    from calibration.deck import EnrolmentError, Report, check_separable
    from vision.profiles import BUILT_IN, ProfileError, check_name, decode_profile, encode_profile

    try:
        if check_name(deck) in BUILT_IN:
            raise ValueError(f"deck {deck!r} is built in; choose another name")
        profile = decode_profile(msgspec.json.encode(document), deck)
        if profile.name != deck:
            raise ValueError(f"the profile is of deck {profile.name!r}, not {deck!r}")
        missing = set(RANKS) - set(profile.glyphs.rank_names) | set(SUITS) - set(profile.glyphs.suit_names)
        if missing:
            raise ValueError(f"no glyph of {' '.join(sorted(missing))}")
        check_separable(profile.glyphs, Report())
    except (ProfileError, EnrolmentError, ValueError) as error:
        raise Refusal("bad_args", f"document: {error}") from error
    return encode_profile(profile)


def _saved(args: CalibrationPut, name: str, version: Version, sha256: str) -> Json:
    """The data of the answer to a ``calibration_put``."""
    return {
        "kind": "layout" if args.deck is None else "deck",
        "name": name,
        "version": version.number,
        "file": version.file,
        "sha256": sha256,
    }


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write_once(path: Path, body: bytes) -> None:
    """Durable and whole, or not at all; never over another. Raises ``OSError``."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(body)
            out.flush()
            os.fsync(out.fileno())
        os.link(scratch, path)
    finally:
        os.unlink(scratch)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
