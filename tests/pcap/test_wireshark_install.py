# SPDX-License-Identifier: BSD-2-Clause
"""`roceproof wireshark`: what it writes, what it leaves alone, and that Wireshark takes it."""

from __future__ import annotations

import csv
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from roceproof.cli.console.main import cli
from roceproof.pcap.wireshark.folders import Folders, below, find_folders
from roceproof.pcap.wireshark.install import (
    LEDGER,
    PLUGIN,
    PROFILE_FILES,
    Deed,
    install,
    profile_of,
    uninstall,
)

from .wireshark_traffic import capture, corrupted, send, tshark

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "WIRESHARK_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def roceproof(*words: str) -> Result:
    return CliRunner().invoke(cli, ["wireshark", *words])


def written(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


@needs_tshark
def test_a_plain_tshark_of_that_user_has_the_fields_and_the_profile(home: Path) -> None:
    said = roceproof("install")
    assert said.exit_code == 0 and "wireshark -C roceproof" in said.output
    path = capture(home / "x.pcapng", [send(0), corrupted(send(1))])
    only = ["-r", str(path), "-Y", 'roceproof.icrc == "bad"']
    lines = tshark("-C", "roceproof", *only, home=home, plugin=False).splitlines()
    assert len(lines) == 1 and "bad ICRC-02" in lines[0]


@needs_tshark
def test_the_profile_takes_short_sends_for_what_they_are(home: Path) -> None:
    roceproof("install")
    path = capture(home / "x.pcapng", [send(0, payload=b"12345")])
    words = ("-r", str(path), "-Y", "_ws.malformed")
    assert tshark("-C", "roceproof", *words, home=home, plugin=False) == ""
    assert "Malformed" in tshark(*words, home=home, plugin=False)


@needs_tshark
def test_the_profiles_colours_and_buttons_are_valid_filters(home: Path) -> None:
    roceproof("install")
    profile = home / ".config" / "wireshark" / "profiles" / "roceproof"
    path = capture(home / "x.pcapng", [send(0), corrupted(send(1)), send(9)])
    words = ("--color", "-C", "roceproof", "-r", str(path), "-T", "fields")
    names = tshark(*words, "-e", "frame.coloring_rule.name", home=home, plugin=False)
    assert names.splitlines() == ["RoCE", "ICRC wrong", "Broken must rule"]

    lines = (profile / "dfilter_buttons").read_text().splitlines()
    buttons = list(csv.reader(line for line in lines if not line.startswith("#")))
    colours = (profile / "colorfilters").read_text().splitlines()
    filters = [row[2].replace("\\x22", '"') for row in buttons]
    filters += [line.split("@")[2] for line in colours if line.startswith("@")]
    assert len(buttons) == 6 and len(filters) == 16
    any_of_them = " || ".join(f"({text})" for text in filters)
    assert tshark("-r", str(path), "-Y", any_of_them, home=home, plugin=False).count("\n") == 3


@needs_tshark
def test_a_directory_of_its_own_serves_through_wiresharks_variable(home: Path) -> None:
    chosen = home / "portable"
    said = roceproof("install", "--directory", str(chosen))
    assert f"WIRESHARK_CONFIG_DIR={chosen} wireshark -C roceproof" in said.output
    assert all(path.is_relative_to(chosen) for path in written(home))
    path = capture(home / "x.pcapng", [send(0)])
    words = ("-C", "roceproof", "-r", str(path), "-Y", "roceproof.icrc")
    out = tshark(*words, home=home, plugin=False, WIRESHARK_CONFIG_DIR=str(chosen))
    assert out.count("\n") == 1


@needs_tshark
def test_the_folders_are_those_that_tshark_names(home: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    assert find_folders() == Folders(
        home / "xdg" / "wireshark", home / ".local" / "lib" / "wireshark" / "plugins"
    )


def test_without_tshark_the_folders_are_those_of_xdg(home: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(home))
    plugins = home / ".local" / "lib" / "wireshark" / "plugins"
    assert find_folders() == Folders(home / ".config" / "wireshark", plugins)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    assert find_folders() == Folders(home / "xdg" / "wireshark", plugins)


def test_installing_again_changes_nothing_and_uninstalling_removes_all(tmp_path: Path) -> None:
    folders = below(tmp_path)
    other = tmp_path / "preferences"
    other.write_text("mine")
    assert {action.deed for action in install(folders)} == {Deed.INSTALLED}
    before = written(tmp_path)
    assert len(before) == len(PROFILE_FILES) + 3
    assert {action.deed for action in install(folders)} == {Deed.UNCHANGED}
    assert written(tmp_path) == before
    assert {action.deed for action in uninstall(folders)} == {Deed.REMOVED}
    assert written(tmp_path) == {other: b"mine"}
    assert not profile_of(folders).exists()
    assert uninstall(folders) == []


def test_a_file_of_an_older_version_is_updated(tmp_path: Path) -> None:
    folders = below(tmp_path)
    install(folders)
    plugin, ledger = folders.plugins / PLUGIN, profile_of(folders) / LEDGER
    now = plugin.read_bytes()
    older = now + b"-- older\n"
    plugin.write_bytes(older)
    text = ledger.read_text()
    ledger.write_text(text.replace(sha256(now).hexdigest(), sha256(older).hexdigest()))
    assert install(folders)[0].deed is Deed.UPDATED
    assert plugin.read_bytes() == now


@pytest.mark.parametrize("ours", [False, True])
def test_a_foreign_or_changed_file_is_overwritten_only_by_force(tmp_path: Path, ours: bool) -> None:
    folders = below(tmp_path)
    if ours:
        install(folders)
    profile = profile_of(folders)
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "preferences").write_text("mine")
    before = written(tmp_path)
    said = roceproof("install", "--directory", str(tmp_path))
    assert said.exit_code != 0 and "--force" in str(said.exception)
    assert str(profile / "preferences") in str(said.exception)
    assert written(tmp_path) == before
    said = roceproof("install", "--directory", str(tmp_path), "--force")
    assert f"replaced   {profile / 'preferences'}" in said.output
    assert b"mine" not in written(tmp_path).values()


def test_uninstalling_keeps_what_was_changed_and_says_so(tmp_path: Path) -> None:
    folders = below(tmp_path)
    install(folders)
    changed = profile_of(folders) / "colorfilters"
    changed.write_text("mine")
    said = roceproof("uninstall", "--directory", str(tmp_path))
    assert f"kept       {changed}" in said.output and "remove them yourself" in said.output
    assert written(tmp_path) == {changed: b"mine"}
    assert "was not installed" in roceproof("uninstall", "--directory", str(tmp_path)).output


def test_a_corrupted_ledger_is_named(tmp_path: Path) -> None:
    folders = below(tmp_path)
    install(folders)
    (profile_of(folders) / LEDGER).write_text("[]")
    said = roceproof("install", "--directory", str(tmp_path))
    assert LEDGER in str(said.exception) and "remove it" in str(said.exception)
