"""What a person asks a table beside the feed, under the person's own key."""

from __future__ import annotations

from typing import Any, Final

from starlette.exceptions import HTTPException

from controller.console.hands import TIMEOUT_S
from controller.console.link import Link
from controller.console.sessions import Session
from controller.console.state import Console

#: What the table's refusal is over HTTP; any other is 502.
_STATUS: Final = {"not_found": 404, "bad_args": 409, "stale": 409, "no_space": 409, "forbidden": 403}


async def ask(
    console: Console,
    session: Session,
    link: Link,
    name: str,
    args: dict[str, Any],
    *,
    id_: str | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Any:
    """The data of the answer. Raises ``HTTPException`` with the table's words."""
    if session.pair is None:
        raise HTTPException(423, "the screen is locked")
    if name not in link.able:
        raise HTTPException(404, f"table {link.id} cannot answer {name}")
    answer = await console.hands.send(link.place, session.pair, name, args, command_id=id_, timeout_s=timeout_s)
    if not answer.ok:
        raise HTTPException(_STATUS.get(answer.code, 502), answer.message)
    return answer.data
