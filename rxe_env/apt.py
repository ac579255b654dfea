# SPDX-License-Identifier: BSD-2-Clause
"""Fetches distribution packages without privileges and without installing them."""

from __future__ import annotations

from pathlib import Path

from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import Unavailable

META_PACKAGES = ("linux-image-amd64", "linux-image-generic")
DOWNLOAD_SECONDS = 300


def kernel_packages() -> list[str]:
    """Return the packages that hold this distribution's current kernel and its modules."""
    for meta in META_PACKAGES:
        image = next(iter(_depends(meta, "linux-image-")), None)
        if image:
            release = image.removeprefix("linux-image-")
            extra = [f"linux-modules-{release}", f"linux-modules-extra-{release}"]
            return [image, *(name for name in extra if _known(name))]
    raise Unavailable("apt knows no kernel package: run `apt-get update`, then try again")


def download(packages: list[str], directory: Path) -> list[Path]:
    """Download packages into `directory`."""
    try:
        run([tool("apt-get"), "download", *packages], cwd=directory, timeout=DOWNLOAD_SECONDS)
    except Unavailable as error:
        raise Unavailable(
            f"cannot download {packages[0]} ({error}): connect to the network or run"
            " `apt-get update`, then try again"
        ) from None
    return sorted(directory.glob("*.deb"))


def _depends(package: str, prefix: str) -> list[str]:
    try:
        lines = run([tool("apt-cache"), "depends", "--important", package]).splitlines()
    except Unavailable:
        return []
    names = [line.split(":", 1)[1].strip() for line in lines if "Depends:" in line]
    return [name for name in names if name.startswith(prefix)]


def _known(package: str) -> bool:
    try:
        return bool(run([tool("apt-cache"), "show", "--no-all-versions", package]).strip())
    except Unavailable:
        return False
