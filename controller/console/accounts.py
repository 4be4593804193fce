"""Who may log on: one JSON file, mode 0600, written whole and at once. Each person has one role and one table key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from controller.bus import keys
from controller.bus.errors import KeysError
from controller.config import ConfigError
from controller.console import vault
from controller.console.vault import Sealed

#: Roles of the screens. An administrator keeps accounts and speaks to no table.
ROLES: Final = ("dealer", "supervisor", "technician", "administrator")
ADMINISTRATOR: Final = "admin"


class AccountError(Exception):
    """The account cannot be made or changed; the message is for the person who tried."""


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """One person. ``public`` is the table key in Z85, ``sealed`` its secret half; administrators have neither."""

    name: str
    role: str
    password: str
    public: str = ""
    sealed: Sealed | None = None
    must_change: bool = True
    disabled: bool = False


class _File(msgspec.Struct, kw_only=True):
    version: int = 1
    accounts: dict[str, Account] = {}


class Accounts:
    """The accounts of one console. Methods that take a password need some tenths of a second."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "accounts.json"
        self._folder = folder
        _private_folder(folder)
        self._file = self._read()
        # Checked against when the name is unknown, so that the time taken does not tell which names exist.
        self._nobody = ""

    @property
    def empty(self) -> bool:
        """Nobody can log on yet."""
        return not self._file.accounts

    def all(self) -> list[Account]:
        """Every account, by name."""
        return sorted(self._file.accounts.values(), key=lambda one: one.name)

    def get(self, name: str) -> Account | None:
        """The account called ``name``."""
        return self._file.accounts.get(name)

    def add(
        self, name: str, role: str, password: str, *, pair: keys.KeyPair | None = None, must_change: bool = True
    ) -> Account:
        """Make an account; ``pair`` is a table key the person has already. Raises ``AccountError``."""
        try:
            keys.check_person(name)
        except KeysError as error:
            raise AccountError(str(error)) from error
        if role not in ROLES:
            raise AccountError(f"{role!r} is no role: {', '.join(ROLES)}")
        if name in self._file.accounts:
            raise AccountError(f"there is an account {name} already")
        return self._store(_made(name, role, password, pair, must_change=must_change))

    def check(self, name: str, password: str) -> Account | None:
        """The account if name and password are right and it is not disabled."""
        account = self._file.accounts.get(name)
        if account is None:
            self._nobody = self._nobody or vault.hash_password(vault.made_password())
            vault.is_password(self._nobody, password)
            return None
        right = vault.is_password(account.password, password)
        return account if right and not account.disabled else None

    def open_key(self, account: Account, password: str) -> keys.KeyPair | None:
        """The person's table key. Raises ``WrongPassword``."""
        if account.sealed is None:
            return None
        return keys.KeyPair(account.public.encode(), vault.unseal(account.sealed, password))

    def set_password(self, name: str, old: str, new: str) -> Account:
        """The person's own change: the key is sealed anew. Raises ``AccountError`` and ``WrongPassword``."""
        account = self._known(name)
        fault = vault.fault_of(new, name)
        if fault is not None:
            raise AccountError(fault)
        if new == old:
            raise AccountError("choose another password than the present one")
        pair = self.open_key(account, old)
        return self._store(
            msgspec.structs.replace(
                account,
                password=vault.hash_password(new),
                sealed=vault.seal(pair.secret, new) if pair is not None else None,
                must_change=False,
            )
        )

    def reset(self, name: str, password: str) -> Account:
        """An administrator's: a password for one log-on. Nobody can open the old key, so there is a new one."""
        account = self._known(name)
        return self._store(_made(name, account.role, password, None, must_change=True))

    def disable(self, name: str, disabled: bool) -> Account:
        """Shut an account or let it in again. Raises ``AccountError`` for the last administrator."""
        account = self._known(name)
        others = [a for a in self.all() if a.role == "administrator" and not a.disabled and a.name != name]
        if disabled and account.role == "administrator" and not others:
            raise AccountError(f"{name} is the only administrator left")
        return self._store(msgspec.structs.replace(account, disabled=disabled))

    def _known(self, name: str) -> Account:
        account = self._file.accounts.get(name)
        if account is None:
            raise AccountError(f"there is no account {name}")
        return account

    def _store(self, account: Account) -> Account:
        self._file.accounts[account.name] = account
        write_private(self._path, msgspec.json.format(msgspec.json.encode(self._file)))
        return account

    def _read(self) -> _File:
        try:
            raw = self._path.read_bytes()
        except FileNotFoundError:
            return _File()
        except OSError as error:
            raise ConfigError(f"{self._path}: cannot be read: {error.strerror}") from error
        if self._path.stat().st_mode & 0o077:
            raise ConfigError(f"{self._path} may be read or written by others; run: chmod 600 {self._path}")
        try:
            return msgspec.json.decode(raw, type=_File)
        except msgspec.DecodeError as error:
            raise ConfigError(f"{self._path} holds no accounts: {error}; restore it or remove it") from error


def _made(name: str, role: str, password: str, pair: keys.KeyPair | None, *, must_change: bool) -> Account:
    if role != "administrator":
        pair = pair or keys.new_pair()
    return Account(
        name=name,
        role=role,
        password=vault.hash_password(password),
        public=pair.public.decode() if pair is not None else "",
        sealed=vault.seal(pair.secret, password) if pair is not None else None,
        must_change=must_change,
    )


def write_private(path: Path, body: bytes) -> None:
    """Replace a file whole, mode 0600, durable before it is visible. Raises ``ConfigError``."""
    new = path.with_name(path.name + ".new")
    try:
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error


def _private_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{folder}: cannot be made: {error.strerror}; give [console] data, a folder that this user may write"
        ) from error
    if folder.stat().st_mode & 0o077:
        raise ConfigError(f"{folder} may be read by others; run: chmod 700 {folder}")
