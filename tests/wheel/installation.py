# SPDX-License-Identifier: BSD-2-Clause
"""A wheel in an environment of its own, and its commands run far from the clone."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

from roceproof.common.paths import REPOSITORY

PIP = (sys.executable, "-P", "-m", "pip", "-q", "--disable-pip-version-check")
BUILD_SECONDS = 300


def run_pip(*words: str | Path) -> None:
    subprocess.run([*PIP, *words], check=True, timeout=BUILD_SECONDS, cwd="/")


def build_wheel(source: Path, directory: Path) -> Path:
    run_pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", directory, source)
    (wheel,) = directory.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Installation:
    """An environment, an empty folder to work in and a home of its own."""

    place: Path

    @property
    def home(self) -> Path:
        return self.place / "home"

    @property
    def cache(self) -> Path:
        return self.home / ".cache" / "roceproof"

    @property
    def work(self) -> Path:
        return self.place / "work"

    @property
    def python(self) -> Path:
        return self.place / "venv" / "bin" / "python"

    @property
    def package(self) -> Path:
        return next((self.place / "venv").glob("lib/python*/site-packages/roceproof"))

    def run(
        self, *words: str | Path, path: str | None = None, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Run a command; without `path` it finds no tool of the system at all."""
        environment = {
            "HOME": str(self.home),
            "PATH": str(self.place / "no-tools") if path is None else path,
            "NO_COLOR": "1",
        }
        return subprocess.run(
            [self.python.with_name("roceproof"), *words],
            cwd=self.work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


def install(wheel: Path, place: Path) -> Installation:
    """Install a wheel; the packages that it depends on are those of the tests."""
    installation = Installation(place)
    for folder in (installation.home, installation.work):
        folder.mkdir()
    venv.create(place / "venv", symlinks=True)
    run_pip("--python", installation.python, "install", "--no-deps", wheel)
    shared = sysconfig.get_path("purelib")
    (installation.package.parent / "shared.pth").write_text(f"{shared}\n")
    return installation


def of_checkout(name: str) -> Path:
    """A capture of the tests."""
    return REPOSITORY / "tests" / "captures" / "rxe" / name
