"""Accounts, keys under passwords, sessions, the throttle, the audit trail: without a browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controller.bus import keys
from controller.config import ConfigError
from controller.console import vault
from controller.console.accounts import AccountError, Accounts
from controller.console.audit import Audit
from controller.console.sessions import TRIES_NAME, WINDOW_S, Sessions, Throttle

GOOD = "correct horse 9"


@pytest.fixture(scope="module")
def pair() -> keys.KeyPair:
    return keys.new_pair()


def test_a_key_opens_under_its_password_and_under_no_other(pair: keys.KeyPair) -> None:
    sealed = vault.seal(pair.secret, GOOD)
    assert vault.unseal(sealed, GOOD) == pair.secret
    with pytest.raises(vault.WrongPassword):
        vault.unseal(sealed, GOOD + "x")
    assert pair.secret.decode() not in str(sealed)


def test_an_account_lasts_and_its_file_tells_no_secret(tmp_path: Path, pair: keys.KeyPair) -> None:
    accounts = Accounts(tmp_path / "console")
    accounts.add("anna", "supervisor", GOOD, pair=pair)
    file = tmp_path / "console" / "accounts.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert GOOD not in file.read_text()
    assert pair.secret.decode() not in file.read_text()
    again = Accounts(tmp_path / "console")
    account = again.check("anna", GOOD)
    assert account is not None
    assert again.open_key(account, GOOD) == pair
    assert again.check("anna", "wrong password") is None
    assert again.check("nobody", GOOD) is None


def test_a_new_password_keeps_the_key_and_a_reset_makes_another(tmp_path: Path, pair: keys.KeyPair) -> None:
    accounts = Accounts(tmp_path / "console")
    accounts.add("anna", "supervisor", GOOD, pair=pair)
    changed = accounts.set_password("anna", GOOD, "another one 11")
    assert accounts.open_key(changed, "another one 11") == pair
    assert not changed.must_change
    reset = accounts.reset("anna", "handed out 123")
    assert reset.public != pair.public.decode()
    assert reset.must_change


@pytest.mark.parametrize("password", ["short", "anna-anna-anna", "aaaaaaaaaaaa", "x" * 201])
def test_weak_passwords_are_refused(tmp_path: Path, password: str, pair: keys.KeyPair) -> None:
    accounts = Accounts(tmp_path / "console")
    accounts.add("anna", "supervisor", GOOD, pair=pair)
    with pytest.raises(AccountError):
        accounts.set_password("anna", GOOD, password)


def test_the_last_administrator_cannot_be_shut(tmp_path: Path) -> None:
    accounts = Accounts(tmp_path / "console")
    accounts.add("admin", "administrator", GOOD)
    with pytest.raises(AccountError, match="only administrator"):
        accounts.disable("admin", True)


def test_a_shut_account_does_not_open(tmp_path: Path, pair: keys.KeyPair) -> None:
    accounts = Accounts(tmp_path / "console")
    accounts.add("anna", "supervisor", GOOD, pair=pair)
    accounts.disable("anna", True)
    assert accounts.check("anna", GOOD) is None


@pytest.mark.parametrize(("name", "role"), [("Anna", "dealer"), ("../x", "dealer"), ("anna", "king")])
def test_names_and_roles_that_are_none(tmp_path: Path, name: str, role: str) -> None:
    with pytest.raises(AccountError):
        Accounts(tmp_path / "console").add(name, role, GOOD)


def test_files_others_can_read_or_that_hold_no_accounts_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "console"
    accounts = Accounts(folder)
    accounts.add("admin", "administrator", GOOD)
    (folder / "accounts.json").chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        Accounts(folder)
    (folder / "accounts.json").chmod(0o600)
    (folder / "accounts.json").write_text("{")
    with pytest.raises(ConfigError, match="no accounts"):
        Accounts(folder)


def test_an_untouched_session_locks_forgets_the_key_and_ends(pair: keys.KeyPair) -> None:
    sessions = Sessions(lock_after_s=300, session_s=1000)
    session = sessions.begin("anna", "supervisor", "::1", pair, now=0.0)
    sessions.touch(session, 200.0)
    assert sessions.find(session.id, 499.0) is session
    assert session.pair is pair
    sessions.find(session.id, 500.0)
    assert session.locked
    assert session.pair is None
    sessions.touch(session, 501.0)  # touching a locked screen opens nothing
    assert session.locked
    sessions.unlock(session, pair, 502.0)
    assert sessions.find(session.id, 503.0) is session
    assert not session.locked
    assert sessions.find(session.id, 1000.0) is None


def test_sessions_have_ids_and_tokens_of_their_own() -> None:
    sessions = Sessions(300, 1000)
    one, other = (sessions.begin("a", "dealer", "::1", None, 0.0) for _ in range(2))
    assert len({one.id, other.id, one.csrf, other.csrf}) == 4
    assert one.is_token(one.csrf)
    assert not one.is_token(other.csrf)
    assert one.id not in repr(one)
    sessions.end_all_of("a")
    assert sessions.all() == []


def test_guessing_is_slowed_for_a_while() -> None:
    throttle = Throttle()
    for n in range(TRIES_NAME):
        assert throttle.wait_s("anna", "10.0.0.9", float(n)) == 0
        throttle.failed("anna", "10.0.0.9", float(n))
    assert throttle.wait_s("anna", "10.0.0.7", 5.0) == pytest.approx(WINDOW_S - 5.0)
    assert throttle.wait_s("bruno", "10.0.0.9", 5.0) == 0
    assert throttle.wait_s("anna", "10.0.0.9", WINDOW_S + 5.0) == 0


def test_the_audit_trail_lasts_and_survives_a_broken_line(tmp_path: Path) -> None:
    audit = Audit(tmp_path)
    audit.note("logged on", who="anna", address="::1", role="supervisor")
    audit.close()
    with (tmp_path / "audit.jsonl").open("a") as file:
        file.write('{"cut')
    again = Audit(tmp_path)
    assert [one["what"] for one in again.recent()] == ["unreadable line", "logged on"]
    again.close()
    first = json.loads((tmp_path / "audit.jsonl").read_text().splitlines()[0])
    assert (first["who"], first["role"]) == ("anna", "supervisor")
    assert (tmp_path / "audit.jsonl").stat().st_mode & 0o777 == 0o600
