"""Passwords, and a person's table key locked under that person's password, by libsodium's argon2id and secret box.

Both take 64 MiB and some tenths of a second on purpose; call them off the event loop.
"""

from __future__ import annotations

import base64
import secrets
import unicodedata
from typing import Final

import msgspec
import nacl.exceptions
import nacl.pwhash
import nacl.secret
import nacl.utils

_KDF = nacl.pwhash.argon2id
PASSWORD_MIN: Final = 10
PASSWORD_MAX: Final = 200
# Letters and digits that nobody confuses on paper.
_ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """A secret under a password. Base64; cost parameters as they were when it was sealed."""

    salt: str
    box: str
    ops: int
    memory: int


class WrongPassword(Exception):
    """The password does not open it."""


def hash_password(password: str) -> str:
    """The argon2id string to store."""
    return _KDF.str(_bytes(password), _KDF.OPSLIMIT_INTERACTIVE, _KDF.MEMLIMIT_INTERACTIVE).decode("ascii")


def is_password(stored: str, password: str) -> bool:
    """Whether ``password`` is the one that ``stored`` was made from."""
    try:
        return _KDF.verify(stored.encode("ascii"), _bytes(password))
    except nacl.exceptions.CryptoError:
        return False


def seal(secret: bytes, password: str) -> Sealed:
    """``secret`` so that only ``password`` opens it."""
    salt = nacl.utils.random(_KDF.SALTBYTES)
    ops, memory = _KDF.OPSLIMIT_INTERACTIVE, _KDF.MEMLIMIT_INTERACTIVE
    box = nacl.secret.SecretBox(_key(password, salt, ops, memory)).encrypt(secret)
    return Sealed(salt=_text(salt), box=_text(bytes(box)), ops=ops, memory=memory)


def unseal(sealed: Sealed, password: str) -> bytes:
    """The secret. Raises ``WrongPassword``, also if the stored bytes were changed."""
    key = _key(password, base64.b64decode(sealed.salt), sealed.ops, sealed.memory)
    try:
        return nacl.secret.SecretBox(key).decrypt(base64.b64decode(sealed.box))
    except nacl.exceptions.CryptoError as error:
        raise WrongPassword("the password does not open this person's key") from error


def fault_of(password: str, name: str) -> str | None:
    """Why a new password is not good enough, for the person who chose it; None if it is."""
    if not PASSWORD_MIN <= len(password) <= PASSWORD_MAX:
        return f"a password has {PASSWORD_MIN} to {PASSWORD_MAX} characters"
    if name in password.lower() or len(set(password)) < 5:
        return "a password does not contain the name and is more than a few characters repeated"
    return None


def made_password() -> str:
    """A password to hand over once: 16 characters in groups, 79 bits."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(16))
    return "-".join(letters[i : i + 4] for i in range(0, 16, 4))


def _key(password: str, salt: bytes, ops: int, memory: int) -> bytes:
    return _KDF.kdf(nacl.secret.SecretBox.KEY_SIZE, _bytes(password), salt, opslimit=ops, memlimit=memory)


def _bytes(password: str) -> bytes:
    return unicodedata.normalize("NFKC", password).encode()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
