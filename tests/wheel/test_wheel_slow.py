# SPDX-License-Identifier: BSD-2-Clause
"""What `make dist` builds, installed with all that it depends on, does the whole job."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

import pytest
from installation import Installation, build_wheel, run_pip

from roceproof.common.paths import REPOSITORY, cache_dir

pytestmark = pytest.mark.slow
FINE, DOWN = 0, 1
DIST = REPOSITORY / "build" / "dist"


@pytest.fixture(scope="module")
def distributed() -> Path:
    """The wheel, which was built from the source distribution."""
    done = subprocess.run(
        [REPOSITORY / "ci" / "dist.sh"], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = DIST.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def complete(distributed: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """An installation with dependencies of its own; guests come from the user's cache."""
    installation = Installation(tmp_path_factory.mktemp("complete"))
    for folder in (installation.cache, installation.work):
        folder.mkdir(parents=True)
    venv.create(installation.place / "venv", symlinks=True)
    try:
        run_pip("--python", installation.python, "install", distributed)
    except subprocess.CalledProcessError:
        pytest.skip("pip cannot install the dependencies: is there a network?")
    cache_dir().mkdir(parents=True, exist_ok=True)
    for kept in ("kernel", "accel", "initramfs", "state", "agent"):
        (cache_dir() / kept).mkdir(exist_ok=True)
        (installation.cache / kept).symlink_to(cache_dir() / kept)
    return installation


def test_its_tag_names_the_c_library_that_it_needs(distributed: Path) -> None:
    assert "-py3-none-manylinux_2_" in distributed.name


def test_the_source_distribution_is_enough_to_build_it(tmp_path: Path, distributed: Path) -> None:
    (source,) = DIST.glob("*.tar.gz")
    assert build_wheel(source, tmp_path).name.startswith("roceproof-")


@pytest.mark.rxe
@pytest.mark.sim
def test_it_does_the_whole_job(complete: Installation) -> None:
    for words in (
        ("rules", "--coverage"),
        ("test", "--dut", complete.package / "rtl" / "dut.toml", "-k", "test_requester_icrc"),
        ("demo", "--short"),
        ("check", "build/demo/capture.pcapng"),
        ("sim", "--link", "pcap:build/demo/capture.pcapng", "--duration", "0.01"),
        ("demo-tap",),
        ("env", "up"),
        ("env", "status"),
        ("env", "down"),
        ("test", "--target", "rxe", "-k", "test_responder_icrc"),
    ):
        done = complete.run(*words, path=os.environ["PATH"], timeout=900)
        assert done.returncode == FINE, f"{words}\n{done.stdout}{done.stderr}"
    assert complete.run("env", "status", path=os.environ["PATH"]).returncode == DOWN
    assert (complete.cache / "build" / "sim").is_dir()
    assert (complete.work / "build/demo/capture.pcapng").exists()
