# SPDX-License-Identifier: BSD-2-Clause
"""The apt of our own: what it trusts, where it writes, and what it makes of no network."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from roceproof.rxe_env import Unavailable
from roceproof.rxe_env.kernel import apt, archives


def test_the_systems_apt_is_left_alone(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What apt is told to read and write lies in the cache, signatures are asked for."""
    told: list[str] = []

    def note(self: apt.Apt) -> None:
        assert self.config
        told.append(self.config.read_text())
        raise Unavailable("no network")

    monkeypatch.setattr(apt.Apt, "update", note)
    monkeypatch.setattr(archives, "KEYRING", tmp_path)
    with (
        pytest.raises(Unavailable, match=r"no network\): connect to the network, or name packages"),
        archives.opened(lambda text: None, mirror="http://mirror"),
    ):
        pass
    (config,) = told
    assert f'Dir::State "{empty_cache}/apt";' in config
    assert 'Dir::Etc::sourceparts "/dev/null";' in config
    lines = (empty_cache / "apt" / "sources.list").read_text().splitlines()
    assert len(lines) == len(archives.SUITES)
    assert all(f"[signed-by={tmp_path} " in line and "trusted" not in line for line in lines)


def test_a_system_that_allows_unsigned_packages_does_not_allow_them_here(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [
        "Acquire::AllowInsecureRepositories",
        "Acquire::AllowWeakRepositories",
        "Acquire::AllowDowngradeToInsecureRepositories",
        "APT::Get::AllowUnauthenticated",
    ]
    lax = tmp_path / "lax.conf"
    lax.write_text("".join(f'{option} "true";\n' for option in options))
    monkeypatch.setenv("APT_CONFIG", str(lax))
    monkeypatch.setattr(archives, "KEYRING", tmp_path)
    monkeypatch.setattr(apt.Apt, "update", lambda self: None)
    with archives.opened(lambda text: None, mirror="http://mirror") as archive:
        assert archive.config
        words = ["apt-config", "-c", str(archive.config), "dump", *options]
        said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    assert sorted(said.splitlines()) == sorted(f'{option} "false";' for option in options)


@pytest.mark.parametrize("has_lists", [False, True])
def test_an_update_that_fetched_nothing_is_none(
    has_lists: bool, empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offline apt-get warns, and ends as if all were well."""
    hasty = tmp_path / "hasty.conf"
    hasty.write_text('Acquire::Retries "0"; Acquire::http::Proxy "DIRECT";')
    monkeypatch.setenv("APT_CONFIG", str(hasty))
    monkeypatch.delenv("http_proxy", raising=False)
    monkeypatch.setattr(archives, "KEYRING", tmp_path)
    home, mirror = empty_cache / "apt", "http://127.0.0.1:1"
    if has_lists:
        (home / "lists").mkdir(parents=True)
        (home / "lists" / "mirror_Packages.lz4").touch()
        with archives.opened(lambda text: None, refresh=True, mirror=mirror):
            pass
    else:
        with (
            pytest.raises(Unavailable, match="connect to the network, or name packages"),
            archives.opened(lambda text: None, refresh=True, mirror=mirror),
        ):
            pass
    assert not (home / "updated").exists()


def test_without_debians_keyring_the_mend_is_named(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "KEYRING", tmp_path / "none")
    with (
        pytest.raises(Unavailable, match="apt-get install debian-archive-keyring"),
        archives.opened(lambda text: None),
    ):
        pass


RELEASE = """\
Origin: Debian
Suite: old
Codename: old
Date: Tue, 01 Jan 2019 00:00:00 UTC
Valid-Until: Tue, 08 Jan 2019 00:00:00 UTC
Architectures: amd64
Components: main
SHA256:
 {digest} {size} main/binary-amd64/Packages
"""
PACKAGES = b"""\
Package: linux-image-6.1.0-1-amd64
Version: 6.1.1
Architecture: amd64
Filename: pool/linux-image.deb
Size: 1
SHA256: 0000000000000000000000000000000000000000000000000000000000000000
"""


@pytest.fixture
def frozen_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A mirror that stood still years ago, signed by a key that we trust."""
    place = tmp_path / "mirror" / "dists" / "old"
    (place / "main" / "binary-amd64").mkdir(parents=True)
    (place / "main" / "binary-amd64" / "Packages").write_bytes(PACKAGES)
    digest = hashlib.sha256(PACKAGES).hexdigest()
    (place / "Release").write_text(RELEASE.format(digest=digest, size=len(PACKAGES)))
    home = tmp_path / "gnupg"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    gpg = ["gpg", "-q", "--batch", "--passphrase", "", "--pinentry-mode", "loopback"]
    key = tmp_path / "key.gpg"
    for words in (
        ["--quick-generate-key", "mirror", "ed25519", "sign", "never"],
        ["-o", str(key), "--export", "mirror"],
        ["-o", str(place / "InRelease"), "--clearsign", str(place / "Release")],
    ):
        subprocess.run([*gpg, *words], check=True, capture_output=True)
    monkeypatch.setattr(archives, "KEYRING", key)
    monkeypatch.setattr(archives, "SUITES", ("old",))
    yield f"copy:{tmp_path}/mirror"
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=True)


@pytest.mark.parametrize("is_checked", [True, False])
def test_lists_out_of_date_are_refused_unless_the_system_takes_them(
    is_checked: bool,
    frozen_mirror: str,
    empty_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who has a mirror that stands still on purpose has told apt so."""
    config = tmp_path / "system.conf"
    config.write_text(
        'Dir::Etc::main "/dev/null"; Dir::Etc::parts "/dev/null";'  # nor what this system says
        f'Acquire::Check-Valid-Until "{str(is_checked).lower()}";\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(config))
    if is_checked:
        with (
            pytest.raises(Unavailable, match="expired"),
            archives.opened(lambda text: None, mirror=frozen_mirror),
        ):
            pass
    else:
        with archives.opened(lambda text: None, mirror=frozen_mirror) as archive:
            assert archive.releases() == ["6.1.0-1-amd64"]
