"""A network camera over HTTP: a stream of JPEG pictures (multipart), or one picture a request.

OpenCV's own reader waits up to 30 seconds for a camera that went silent; this one gives up after the time it is
told. Accounts (basic and digest) stand in the address: ``http://user:password@camera/stream``.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Final, Protocol

MAX_PICTURE: Final = 32 << 20
_MAX_LINE: Final = 4096
_CHUNK: Final = 65_536


class StreamError(Exception):
    """The camera is away, silent, or sends something else than pictures."""


class _Body(Protocol):
    headers: http.client.HTTPMessage

    def read1(self, size: int = ...) -> bytes: ...

    def close(self) -> None: ...


def shown(url: str) -> str:
    """``url`` without its account, for logs and screens."""
    parts = urllib.parse.urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urllib.parse.urlunsplit((parts.scheme, host, parts.path, "", ""))


class MjpegStream:
    """One connection. ``timeout_s`` limits the answer and every picture. Raises ``StreamError``."""

    def __init__(self, url: str, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._rest = bytearray()
        self._deadline = time.monotonic() + timeout_s
        try:
            self._body: _Body = _opener(url).open(_plain(url), timeout=timeout_s)
        except urllib.error.HTTPError as error:
            error.close()
            raise StreamError(f"{shown(url)}: the camera answers {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise StreamError(f"{shown(url)}: {_cause(error)}") from error
        kind = self._body.headers.get_content_type()
        boundary = str(self._body.headers.get_param("boundary") or "").strip("-").encode()
        self._boundary = boundary or b"\r\n--"
        self._single: bool = kind == "image/jpeg"
        if not self._single and not kind.startswith("multipart/"):
            self.close()
            raise StreamError(f"{shown(url)}: sends {kind}, neither a stream of pictures nor a JPEG")

    @property
    def single(self) -> bool:
        """The address gives one picture a request: make a new connection for the next."""
        return self._single

    def picture(self) -> bytes:
        """The next JPEG, whole. Raises ``StreamError`` if none comes in time."""
        self._deadline = time.monotonic() + self._timeout_s
        if self._single:
            jpeg = self._until_end()
        else:
            length = self._headers()
            jpeg = self._exactly(length) if length is not None else self._until_next()
        if not jpeg.startswith(b"\xff\xd8") or b"\xff\xd9" not in jpeg[-64:]:
            raise StreamError(f"{shown(self._url)}: a picture is no whole JPEG")
        return jpeg

    def close(self) -> None:
        """Hang up."""
        self._body.close()

    def _headers(self) -> int | None:
        """Skip to the end of the next part's headers; its length, if it says so."""
        length: int | None = None
        inside = False
        while True:
            line = self._line()
            if not line and inside:
                return length
            inside = inside or (bool(line) and not line.startswith(b"--"))
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                try:
                    length = int(value)
                except ValueError:
                    raise StreamError(f"{shown(self._url)}: a picture's length is {value!r}") from None
                if not 0 < length <= MAX_PICTURE:
                    raise StreamError(f"{shown(self._url)}: a picture of {length} bytes")

    def _line(self) -> bytes:
        while (end := self._rest.find(b"\n")) < 0:
            if len(self._rest) > _MAX_LINE:
                raise StreamError(f"{shown(self._url)}: sends something else than pictures")
            self._more()
        line = bytes(self._rest[:end]).rstrip(b"\r")
        del self._rest[: end + 1]
        return line

    def _exactly(self, length: int) -> bytes:
        while len(self._rest) < length:
            self._more()
        jpeg = bytes(self._rest[:length])
        del self._rest[:length]
        return jpeg

    def _until_next(self) -> bytes:
        """A part that does not say how long it is ends before the next boundary."""
        searched = 0
        while (end := self._rest.find(self._boundary, searched)) < 0:
            searched = max(0, len(self._rest) - len(self._boundary))
            self._more()
        return self._exactly(end).rstrip(b"-").rstrip(b"\r\n")

    def _until_end(self) -> bytes:
        try:
            while True:
                self._more()
        except EOFError:
            return bytes(self._rest)

    def _more(self) -> None:
        if time.monotonic() > self._deadline:
            raise StreamError(f"{shown(self._url)}: no whole picture in {self._timeout_s:g} s")
        if len(self._rest) > MAX_PICTURE:
            raise StreamError(f"{shown(self._url)}: a picture of more than {MAX_PICTURE} bytes")
        try:
            data = self._body.read1(_CHUNK)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise StreamError(f"{shown(self._url)}: {_cause(error)}") from error
        if not data:
            if self._single:
                raise EOFError
            raise StreamError(f"{shown(self._url)}: the camera ended the stream")
        self._rest += data


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Without the proxies of the environment: a camera is on this network."""
    parts = urllib.parse.urlsplit(url)
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if parts.username is not None:
        passwords = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        user, password = (urllib.parse.unquote(text or "") for text in (parts.username, parts.password))
        passwords.add_password(None, _plain(url), user, password)
        handlers += [
            urllib.request.HTTPDigestAuthHandler(passwords),
            urllib.request.HTTPBasicAuthHandler(passwords),
        ]
    return urllib.request.build_opener(*handlers)


def _plain(url: str) -> str:
    """``url`` with its query, without its account."""
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _cause(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return "no answer in time" if isinstance(reason, TimeoutError) else str(reason) or type(reason).__name__
