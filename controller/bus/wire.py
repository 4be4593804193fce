"""The JSON of the bus (design: feed and commands): bytes to values and back, no sockets and no clock.

``Frame`` is one feed frame as a plain dict. Whatever breaks the protocol raises ``ProtocolError``.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import msgspec

from controller.bus.errors import CommandRefused, ProtocolError

SCHEMA: Final = 1
PAGE_SIZE: Final = 1000
"""Frames a ``since`` answer holds at most."""
HEARTBEAT_S: Final = 1.0
"""Seconds between heartbeats of an idle feed."""
MAX_BODY: Final = 1 << 20
"""Bytes a command may have at most."""
HEARTBEAT: Final = "heartbeat"

Frame: TypeAlias = dict[str, Any]


def topic_of(table: str) -> str:
    """The feed topic of a table. It ends with ``/`` because subscriptions match prefixes: bb-1 is not bb-12."""
    return f"table/{table}/"


@dataclass(frozen=True)
class Reply:
    """An accepted command: ``id`` as sent, ``seq`` of the feed after it (None if the table names none)."""

    id: str
    seq: int | None
    raw_data: bytes

    @cached_property
    def data(self) -> Any:
        """The answer's ``data``, decoded; None if it has none."""
        return msgspec.json.decode(self.raw_data)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The table's public state after frame ``seq``; ``state`` is JSON as the table sent it."""

    feed: str
    epoch: int
    seq: int
    state: Any


@dataclass(frozen=True, slots=True)
class FeedMessage:
    """One message of the feed. ``seq`` is None for a heartbeat, which carries ``last_seq`` instead."""

    feed: str
    epoch: int
    seq: int | None
    last_seq: int
    raw: bytes
    frame: Frame


class _Error(msgspec.Struct):
    code: str
    message: str = ""
    expected: Any = None


class _Answer(msgspec.Struct):
    ok: bool
    id: str | None = None
    seq: int | None = None
    data: msgspec.Raw = msgspec.Raw(b"null")
    error: _Error | None = None


class _Page(msgspec.Struct):
    frames: list[msgspec.Raw]
    more: bool


class _IdOnly(msgspec.Struct):
    id: str


_ENCODER = msgspec.json.Encoder()
_ANSWER = msgspec.json.Decoder(_Answer)
_PAGE = msgspec.json.Decoder(_Page)
_SNAPSHOT = msgspec.json.Decoder(Snapshot)
_FRAME = msgspec.json.Decoder(dict[str, Any])
_ID = msgspec.json.Decoder(_IdOnly)


def encode_command(
    name: str, args: dict[str, Any], *, seen_seq: int | None = None, command_id: str | None = None
) -> tuple[str, bytes]:
    """(id, body) of a command; makes a fresh id unless one is given. Raises ``ProtocolError`` over ``MAX_BODY``."""
    command_id = command_id or str(uuid.uuid4())
    message: dict[str, Any] = {"id": command_id, "command": name, "args": args}
    if seen_seq is not None:
        message["seen_seq"] = seen_seq
    body = _ENCODER.encode(message)
    if len(body) > MAX_BODY:
        raise ProtocolError(f"command {name} has {len(body)} bytes; a table takes {MAX_BODY}")
    return command_id, body


def encode_refusal(command_id: str | None, code: str, message: str, expected: Any = None) -> bytes:
    """The body of a refusal."""
    error = {"code": code, "message": message, "expected": expected}
    return _ENCODER.encode({"id": command_id, "ok": False, "error": error})


def encode_reply(command_id: str, seq: int | None, data: Any = None) -> bytes:
    """The body of an accepted command's answer. ``data`` may hold ``msgspec.Raw`` for bytes that must not change."""
    return _ENCODER.encode({"id": command_id, "ok": True, "seq": seq, "data": data})


def encode_page(command_id: str, seq: int | None, frames: list[bytes], more: bool) -> bytes:
    """The body of a ``since`` answer; the frames go in byte for byte as they were published."""
    return encode_reply(command_id, seq, {"frames": [msgspec.Raw(frame) for frame in frames], "more": more})


def id_of(body: bytes) -> str | None:
    """The id of a command that is refused unread; None if it has none."""
    try:
        return _ID.decode(body).id
    except (msgspec.DecodeError, RecursionError):
        return None


def decode_answer(raw: bytes) -> tuple[str | None, Reply | CommandRefused]:
    """(id, outcome) of an answer; the id is None where the table could not read the command's."""
    try:
        answer = _ANSWER.decode(raw)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"the table's answer is not one: {error}") from error
    if answer.ok:
        if answer.id is None:
            raise ProtocolError("the table accepted a command without naming its id")
        return answer.id, Reply(answer.id, answer.seq, bytes(answer.data))
    if answer.error is None:
        raise ProtocolError("the table refused a command without an error")
    refusal = answer.error
    return answer.id, CommandRefused(refusal.code, refusal.message, refusal.expected, answer.id)


def decode_snapshot(reply: Reply) -> Snapshot:
    """The snapshot in a reply to ``snapshot``."""
    try:
        return _SNAPSHOT.decode(reply.raw_data)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"the table's snapshot is not one: {error}") from error


def decode_page(reply: Reply) -> tuple[list[FeedMessage], bool]:
    """(frames, more) of a reply to ``since``; each frame keeps its exact bytes."""
    try:
        page = _PAGE.decode(reply.raw_data)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"the table's page of frames is not one: {error}") from error
    return [decode_message(bytes(raw)) for raw in page.frames], page.more


def decode_message(raw: bytes) -> FeedMessage:
    """One feed frame or heartbeat."""
    try:
        frame = _FRAME.decode(raw)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"the feed sent something that is not a JSON object: {error}") from error
    feed, epoch, kind = frame.get("feed"), frame.get("epoch"), frame.get("type")
    if frame.get("schema") != SCHEMA:
        raise ProtocolError(f"the feed has schema {frame.get('schema')!r}; this client reads schema {SCHEMA}")
    if not (isinstance(feed, str) and isinstance(epoch, int) and isinstance(kind, str)):
        raise ProtocolError("a feed frame lacks its feed, epoch or type")
    if kind == HEARTBEAT:
        data = frame.get("data")
        last = data.get("last_seq") if isinstance(data, dict) else None
        if not isinstance(last, int):
            raise ProtocolError("a heartbeat lacks its last_seq")
        return FeedMessage(feed, epoch, None, last, raw, frame)
    seq = frame.get("seq")
    if not isinstance(seq, int) or seq < 1:
        raise ProtocolError(f"a feed frame has seq {seq!r}; frames count from 1")
    return FeedMessage(feed, epoch, seq, seq, raw, frame)
