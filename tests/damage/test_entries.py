# SPDX-License-Identifier: BSD-2-Clause
"""Whatever happens to an entry of the cache, it is said in one line and made anew."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from damages import DAMAGES, Damage

from roceproof.common.checksum_stamp import flaw
from roceproof.rxe_env import Unavailable, cache
from roceproof.rxe_env.client import agent_build
from roceproof.rxe_env.doctor import HOST_CHECKS
from roceproof.rxe_env.kernel import apt, distribution
from roceproof.rxe_env.vm import accel

NOBODY = 65534
ENTRY_KINDS = [kind for kind, (thing, _) in cache.KINDS.items() if thing]


def build_stand_in(place: Path) -> None:
    (place / "deep").mkdir()
    (place / "deep" / "file").write_bytes(b"what is kept" * 100)
    (place / "program").write_bytes(b"#!/bin/true\n")
    (place / "program").chmod(0o755)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("kind", ENTRY_KINDS)
def test_a_damaged_entry_is_named_and_made_anew(
    kind: str, damage: Damage, empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = cache.entry(kind, "key", build_stand_in)
    damage(place, place / "program")
    assert cache.entry(kind, "key", build_stand_in) == place
    said = capsys.readouterr().err
    assert re.fullmatch(
        rf"roceproof: the {cache.KINDS[kind][0]} in {place} was damaged \(.+\); making it anew\n",
        said,
    ), said
    assert flaw(place) is None
    assert (place / "program").read_bytes() == b"#!/bin/true\n"
    assert os.access(place / "program", os.X_OK)
    assert [path.name for path in place.parent.iterdir()] == ["key"]


def test_a_whole_entry_is_used_without_a_word(
    empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = cache.entry("state", "key", build_stand_in)
    inode = place.stat().st_ino
    assert cache.entry("state", "key", lambda place: pytest.fail("built twice")) == place
    assert place.stat().st_ino == inode
    assert capsys.readouterr().err == ""


def test_every_bit_of_a_sealed_file_counts(empty_cache: Path) -> None:
    place = cache.entry("accel", "key", lambda new: (new / "file").write_bytes(b"abc") and None)
    file = place / "file"
    for bit in range(24):
        raw = bytearray(b"abc")
        raw[bit // 8] ^= 1 << bit % 8
        file.write_bytes(raw)
        assert flaw(place) == "the bytes of file have changed"
    file.write_bytes(b"abc")
    assert flaw(place) is None


def test_an_entry_that_cannot_be_made_anew_stays_and_the_reason_is_told(
    empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def offline(place: Path) -> None:
        raise Unavailable("no network")

    place = cache.entry("kernel", "key", build_stand_in)
    (place / "program").unlink()
    with pytest.raises(Unavailable, match="no network"):
        cache.entry("kernel", "key", offline)
    assert (place / "deep" / "file").exists()
    assert capsys.readouterr().err.count("\n") == 1


def test_a_full_disk_is_one_line_with_the_thing_and_the_mend(empty_cache: Path) -> None:
    with pytest.raises(Unavailable) as refused:
        cache.entry("state", "key", lambda new: Path("/dev/full").write_bytes(b"x") and None)
    text = str(refused.value)
    assert text.startswith(f"{empty_cache}: No space left on device: free some space, or set ROCE")
    assert "\n" not in text
    assert list((empty_cache / "state").iterdir()) == []


def test_a_tool_that_finds_the_disk_full_is_one_line_with_the_mend(empty_cache: Path) -> None:
    def pack(place: Path) -> None:
        raise Unavailable("zstd failed: Write error: No space left on device")

    with pytest.raises(Unavailable, match=rf"{empty_cache}: zstd failed: .*: free some space"):
        cache.entry("state", "key", pack)


@pytest.mark.parametrize("name", ["state", "state.lock"])
def test_a_thing_in_the_way_is_named_with_the_mend(name: str, empty_cache: Path) -> None:
    empty_cache.mkdir()
    if name == "state":
        (empty_cache / name).touch()
    else:
        (empty_cache / name).mkdir()
    with pytest.raises(Unavailable, match=rf"{empty_cache}/{name}: .*: make it yours or remove it"):
        cache.entry("state", "key", build_stand_in)


@pytest.fixture
def nobody() -> Iterator[None]:
    """Whoever runs the test loses what only root may do."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    yield
    os.seteuid(before)


@pytest.mark.usefixtures("nobody")
def test_a_cache_that_is_not_ours_is_one_line_with_the_mend(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ROCEPROOF_CACHE", "/proc/1/roceproof")
    with pytest.raises(Unavailable, match=r"/proc/1.*: make it yours or remove it, or set ROCE"):
        cache.entry("state", "key", build_stand_in)


@pytest.mark.usefixtures("nobody")
def test_an_entry_that_its_owner_cannot_read_is_made_anew(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with tempfile.TemporaryDirectory(prefix="roceproof-") as ours:
        monkeypatch.setenv("ROCEPROOF_CACHE", ours)
        place = cache.entry("agent", "key", build_stand_in)
        place.chmod(0)
        cache.entry("agent", "key", build_stand_in)
        assert flaw(place) is None
        assert "was damaged (its seal cannot be read)" in capsys.readouterr().err


@pytest.fixture
def kernel_of_two_files(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> distribution.Kernel:
    def keep(get: Callable[[Path], list[str]], place: Path) -> None:
        (package,) = get(place)
        (place / "vmlinuz").write_bytes(package.encode())
        facts = {"release": package, "needs": {}}
        (place / "kernel.json").write_text(json.dumps(facts))

    monkeypatch.setattr(distribution, "keep_packages", keep)
    monkeypatch.setattr(apt, "download", lambda packages, folder: packages)
    monkeypatch.setattr(apt, "kernel_packages", lambda: ["linux-image-1"])
    return distribution.fetch()


def test_a_damaged_kernel_is_fetched_again(
    kernel_of_two_files: distribution.Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel_of_two_files.image.write_bytes(b"")
    steps: list[str] = []
    assert distribution.cached() is None
    assert distribution.fetch(steps.append) == kernel_of_two_files == distribution.cached()
    assert steps == ["fetching linux-image-1 through apt"]
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"the guest kernel in {kernel_of_two_files.directory}" in said


def test_a_damaged_kernel_makes_room_for_a_newer_one(
    kernel_of_two_files: distribution.Kernel,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (kernel_of_two_files.directory / "kernel.json").write_text("{")
    monkeypatch.setattr(apt, "kernel_packages", lambda: ["linux-image-2"])
    assert distribution.fetch().release == "linux-image-2"
    assert not kernel_of_two_files.directory.exists()
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"the guest kernel in {kernel_of_two_files.directory}" in said


def test_an_older_whole_kernel_is_better_than_a_newer_damaged_one(
    kernel_of_two_files: distribution.Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = kernel_of_two_files.directory.with_name(f"linux-image-2.{distribution.KEPT}")
    newer.mkdir()
    assert distribution.fetch() == kernel_of_two_files


def test_a_verdict_that_is_garbage_is_found_anew(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    probes: list[Path] = []
    monkeypatch.setattr(accel, "KVM_DEVICE", Path("/dev/null"))
    monkeypatch.setattr(accel, "kvm_works", lambda image: probes.append(image) or True)
    monkeypatch.delenv("ROCEPROOF_ACCEL", raising=False)
    assert accel.choose(Path("image")) == "kvm"
    (verdict,) = empty_cache.glob("accel/*/verdict.json")
    verdict.write_bytes(b"\xff{")
    assert accel.choose(Path("image")) == "kvm"
    assert len(probes) == 2
    assert "the verdict on KVM in" in capsys.readouterr().err


@pytest.mark.slow
def test_an_empty_agent_is_compiled_again(
    empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = agent_build.build_agent(flags=())
    whole = agent.read_bytes()
    agent.write_bytes(b"")
    assert agent_build.build_agent(flags=()).read_bytes() == whole
    assert "the verbs agent in" in capsys.readouterr().err


def test_the_doctor_tells_how_much_is_kept_how_to_clear_it_and_what_is_damaged(
    empty_cache: Path,
) -> None:
    assert HOST_CHECKS["cache"]().detail.startswith(f"0 MB in {empty_cache} (to clear it: rm -r ")
    place = cache.entry("state", "key", build_stand_in)
    assert HOST_CHECKS["cache"]().status == "ok"
    (place / "program").write_bytes(bytes(3_000_000))
    check = HOST_CHECKS["cache"]()
    assert check.status == "warn"
    assert check.detail.startswith(f"3 MB in {empty_cache} ")
    assert check.detail.endswith(
        f"the saved machine in {place} (program has 3000000 bytes, not 12)"
    )
    assert "clear" in HOST_CHECKS["builds"]().detail
