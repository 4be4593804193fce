"""The key folder: what is made, what is listed, and what is refused by name."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from controller.bus import keys
from controller.bus.errors import KeysError
from controller.bus.keys import Identity


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_made_folder_is_private_and_loads(tmp_path: Path) -> None:
    keys_dir = tmp_path / "keys"
    old = os.umask(0)
    try:
        server = keys.make_server(keys_dir)
        anna = keys.make_person(keys_dir, "supervisor", "anna")
    finally:
        os.umask(old)
    assert [mode(p) for p in (keys_dir, anna.parent)] == [0o700, 0o700]
    secrets = [server.with_suffix(".key_secret"), anna.with_suffix(".key_secret")]
    assert [mode(p) for p in secrets] == [0o600, 0o600]
    assert keys.load_identities(keys_dir) == {keys.load_public(anna): Identity("supervisor", "anna")}
    assert keys.load_server(keys_dir).public == keys.load_server_public(keys_dir)
    assert keys.load_secret(secrets[1]).public == keys.load_public(anna)
    assert sorted(p.name for p in keys_dir.iterdir()) == ["server.key", "server.key_secret", "supervisor"]


def test_list_names_everybody_and_where_secrets_lie(keys_dir: Path) -> None:
    (keys_dir / "camera" / "cam-1.key_secret").unlink()
    entries = keys.list_keys(keys_dir)
    assert [(e.role, e.person) for e in entries] == [
        ("server", "server"),
        ("camera", "cam-1"),
        ("dealer", "dea-1"),
        ("game_server", "gam-1"),
        ("observer", "obs-1"),
        ("supervisor", "sup-1"),
        ("technician", "tec-1"),
    ]
    assert [e.role for e in entries if not e.has_secret] == ["camera"]


@pytest.mark.parametrize(
    "person", ["", ".", "..", "Anna", "a/b", "../x", "a b", ".hidden", "-x", "x.", "é", "a" * 65, "a\n"]
)
def test_person_names_that_are_unsafe_or_alike_are_refused(tmp_path: Path, person: str) -> None:
    with pytest.raises(KeysError, match="not a person's name"):
        keys.make_person(tmp_path / "keys", "dealer", person)


@pytest.mark.parametrize("person", ["a", "anna", "anna-maria.k_2", "7", "a" * 64])
def test_person_names_that_are_fine(person: str) -> None:
    assert keys.check_person(person) == person


def test_unknown_role_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeysError, match="'boss' is not a role; the roles are observer"):
        keys.make_person(tmp_path / "keys", "boss", "anna")


def test_no_key_is_overwritten(keys_dir: Path) -> None:
    before = keys.load_secret(keys_dir / "dealer" / "dea-1.key_secret")
    with pytest.raises(KeysError, match="exists; remove it first"):
        keys.make_person(keys_dir, "dealer", "dea-1")
    (keys_dir / "dealer" / "dea-1.key_secret").rename(keys_dir / "elsewhere")
    with pytest.raises(KeysError, match="exists; remove it first"):
        keys.make_person(keys_dir, "dealer", "dea-1")
    assert not (keys_dir / "dealer" / "dea-1.key_secret").exists()
    assert keys.load_public(keys_dir / "dealer" / "dea-1.key") == before.public
    assert not list(keys_dir.glob(".new-*"))


@pytest.mark.parametrize("loose", [0o640, 0o604, 0o620])
@pytest.mark.parametrize("file", ["server.key_secret", "dealer/dea-1.key_secret"])
def test_a_secret_others_may_read_is_refused(keys_dir: Path, file: str, loose: int) -> None:
    (keys_dir / file).chmod(loose)
    with pytest.raises(KeysError, match=f"{file} may be read or written by others; run: chmod 600"):
        keys.load_secret(keys_dir / file)
    load = keys.load_server if file.startswith("server") else keys.load_identities
    with pytest.raises(KeysError, match=file):
        load(keys_dir)


@pytest.mark.parametrize("place", ["", "dealer", "dealer/dea-1.key"])
def test_what_others_may_write_is_refused(keys_dir: Path, place: str) -> None:
    (keys_dir / place).chmod(mode(keys_dir / place) | stat.S_IWGRP)
    with pytest.raises(KeysError, match="may be written by others"):
        keys.load_identities(keys_dir)


def test_one_key_in_two_places_names_both(keys_dir: Path) -> None:
    shutil.copy(keys_dir / "dealer" / "dea-1.key", keys_dir / "supervisor" / "sneaky.key")
    with pytest.raises(KeysError, match=r"dealer/dea-1\.key and .*supervisor/sneaky\.key hold the same key"):
        keys.load_identities(keys_dir)


def test_the_tables_own_key_is_nobodys(keys_dir: Path) -> None:
    shutil.copy(keys_dir / "server.key", keys_dir / "supervisor" / "table.key")
    with pytest.raises(KeysError, match=r"server\.key and .*table\.key"):
        keys.load_identities(keys_dir)


def test_keys_in_places_that_mean_nothing_are_refused(keys_dir: Path) -> None:
    stray = shutil.copy(keys_dir / "dealer" / "dea-1.key", keys_dir / "dea-1.key")
    with pytest.raises(KeysError, match="belongs in the folder of a role"):
        keys.load_identities(keys_dir)
    Path(stray).unlink()
    (keys_dir / "dealer").rename(keys_dir / "dealers")
    with pytest.raises(KeysError, match="dealers is not a role's folder"):
        keys.load_identities(keys_dir)


def test_a_bad_name_in_the_folder_is_refused(keys_dir: Path) -> None:
    shutil.copy(keys_dir / "dealer" / "dea-1.key", keys_dir / "dealer" / "Dea-1.key")
    with pytest.raises(KeysError, match=r"Dea-1\.key: 'Dea-1' is not a person's name"):
        keys.load_identities(keys_dir)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "No public key"),
        ("public-key", "not a key file"),
        ('public-key = "short"', "not 40 characters of Z85"),
        ('public-key = "' + "~" * 40 + '"', "not 40 characters of Z85"),
        ('public-key = "' + "#" * 40 + '"', "not 40 characters of Z85"),
        ('public-key = "' + "0" * 40 + '"\nsecret-key = "' + "0" * 40 + '"', "holds a secret key"),
        ("x" * 70_000, "too long"),
    ],
)
def test_files_that_are_no_public_key(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "a.key"
    file.write_text(text)
    with pytest.raises(KeysError, match=reason) as raised:
        keys.load_public(file)
    assert str(file) in str(raised.value)


def test_files_that_are_no_secret_key(keys_dir: Path) -> None:
    public = keys_dir / "dealer" / "dea-1.key"
    public.chmod(0o600)
    with pytest.raises(KeysError, match="holds no secret key"):
        keys.load_secret(public)
    mixed = keys_dir / "mixed.key_secret"
    secret = (keys_dir / "dealer" / "dea-1.key_secret").read_text().splitlines()
    other = (keys_dir / "camera" / "cam-1.key_secret").read_text().splitlines()
    mixed.write_text("\n".join([*secret[:-1], other[-1]]))
    mixed.chmod(0o600)
    with pytest.raises(KeysError, match="does not belong"):
        keys.load_secret(mixed)
    mixed.write_text("\n".join([*secret[:-1], 'secret-key = "short"']))
    with pytest.raises(KeysError, match="not 40 characters"):
        keys.load_secret(mixed)


def test_server_halves_must_match(keys_dir: Path) -> None:
    shutil.copy(keys_dir / "dealer" / "dea-1.key", keys_dir / "server.key")
    with pytest.raises(KeysError, match="not the public half"):
        keys.load_server(keys_dir)


def test_a_missing_folder_says_how_to_make_it(tmp_path: Path) -> None:
    for load in (keys.load_identities, keys.load_server, keys.list_keys, keys.load_server_public):
        with pytest.raises(KeysError, match="No such file"):
            load(tmp_path / "nowhere")


def test_a_secret_is_not_shown(keys_dir: Path) -> None:
    pair = keys.load_server(keys_dir)
    assert pair.secret.decode() not in repr(pair)
