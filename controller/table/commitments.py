"""Commitments to hidden cards: published at the deal, opened at the reveal (design page, Secrets)."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

KEY_BYTES: Final = 32


def commit(key: bytes, *, table: str, round_: str, position: str, card: str) -> str:
    """Lower-case hex ``HMAC-SHA-256(key, "dealerd/1\\n" table "\\n" round "\\n" position "\\n" card)``.

    For burned cards ``round_`` is the shoe's id. Raises ``ValueError`` unless ``key`` has 32 bytes.
    """
    if len(key) != KEY_BYTES:
        raise ValueError(f"a commitment key has {KEY_BYTES} bytes, not {len(key)}")
    text = "\n".join(("dealerd/1", table, round_, position, card))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def verify(commitment: str, key_hex: str, *, table: str, round_: str, position: str, card: str) -> bool:
    """True if ``key_hex`` opens ``commitment`` to this card. A key of another length never does."""
    try:
        key = bytes.fromhex(key_hex)
        expected = commit(key, table=table, round_=round_, position=position, card=card)
    except ValueError:
        return False
    return hmac.compare_digest(expected, commitment)


def derive_key(entropy: bytes, index: int) -> bytes:
    """The ``index``-th fresh key of one input, from its 32 bytes of entropy."""
    return hmac.new(entropy, b"dealerd commitment key %d" % index, hashlib.sha256).digest()
