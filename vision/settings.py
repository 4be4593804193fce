"""``[camera]`` of the table file: where pictures come from, the layout, the decks, what is served."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal

import msgspec

from vision.mjpeg import shown

_ADDRESS: Final = re.compile(r"(?P<host>[^:\s]+|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})")
SourceKind = Literal["http", "rtsp", "device", "video", "folder"]


class CameraSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the table's pictures come from and how they are read. Paths are relative to the table file."""

    #: ``/dev/…``, ``http://…``, ``https://…``, ``rtsp://…``, a video file, or a folder of pictures.
    source: str
    #: A layout file (``.toml``, ``.json``) or the name of a built-in layout.
    layout: str
    #: Deck profiles: files or names of built-in ones.
    profiles: tuple[str, ...] = ("live-casino",)
    #: Whose key in ``keys/camera`` the service speaks with.
    person: str = "camera"
    #: Where annotated pictures are served; empty for nowhere.
    http: str = "127.0.0.1:5710"
    #: Ask a device for this picture size and rate; 0 for its own. Videos and folders are played at this rate.
    width: int = 0
    height: int = 0
    fps: float = 0.0
    #: Seconds an RTSP camera may take to connect; seconds any camera may take for one picture.
    open_timeout_s: float = 1.5
    read_timeout_s: float = 0.8
    #: A frame older than this is not read, and the camera counts as lost.
    max_age_s: float = 1.0

    @property
    def kind(self) -> SourceKind:
        """What ``source`` is, by its form."""
        scheme = self.source.partition("://")[0].lower() if "://" in self.source else ""
        if scheme in ("http", "https"):
            return "http"
        if scheme in ("rtsp", "rtsps"):
            return "rtsp"
        if self.source.startswith("/dev/"):
            return "device"
        return "folder" if self.source.endswith("/") else "video"

    def address(self) -> tuple[str, int] | None:
        """(host, port) of ``http``; None for nowhere."""
        found = _ADDRESS.fullmatch(self.http)
        return (found["host"].strip("[]"), int(found["port"])) if found else None

    def beside(self, folder: Path) -> CameraSettings:
        """With every path that is relative made absolute, beginning in ``folder``."""

        def absolute(name: str) -> str:
            # A name without a suffix is that of something built in.
            return str((folder / name).absolute()) if Path(name).suffix else name

        source = self.source
        if "://" not in source:
            source = str((folder / source).absolute()) + ("/" if source.endswith("/") else "")
        profiles = tuple(absolute(name) for name in self.profiles)
        return msgspec.structs.replace(self, source=source, layout=absolute(self.layout), profiles=profiles)

    def public(self) -> CameraSettings:
        """Without the account that the camera's address may carry."""
        return msgspec.structs.replace(self, source=shown(self.source)) if "://" in self.source else self

    def problems(self) -> list[str]:
        """What is wrong, one line each."""
        found = []
        if not self.source:
            found.append("source is empty: a device, an address, a video file or a folder")
        if "://" in self.source and self.kind not in ("http", "rtsp"):
            found.append(f"source {self.source!r}: http, https and rtsp addresses are known")
        if self.http and (self.address() is None or not int(self.http.rpartition(":")[2]) <= 65535):
            found.append(f"http {self.http!r}: HOST:PORT, or empty for no pictures")
        for name in ("open_timeout_s", "read_timeout_s", "max_age_s"):
            if not 0.05 <= getattr(self, name) <= 10:
                found.append(f"{name} must be 0.05 to 10 seconds, not {getattr(self, name):g}")
        if not 0 <= self.fps <= 240 or min(self.width, self.height) < 0:
            found.append("width, height and fps must not be negative, fps at most 240")
        if not self.profiles:
            found.append("profiles is empty: at least one deck")
        return found
