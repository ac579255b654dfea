# SPDX-License-Identifier: BSD-2-Clause
"""What apt knows of kernels, and fetching it without privileges and without installing it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import Unavailable

META_PACKAGES = ("linux-image-amd64", "linux-image-generic")
IMAGE = "linux-image-"
# Debian's and Ubuntu's plain flavours: no cloud, no rt, no candidate of a release (~rc).
_PLAIN_IMAGE = re.compile(r"linux-image-(\d[\d.]*(?:\+[\w.]+)?(?:-\d+)?-(?:amd64|generic))")
_CANDIDATE = re.compile(r"^(\S+):\n.*\n  Candidate: \d", re.MULTILINE)
_PLANNED = re.compile(r"^Inst (\S+)", re.MULTILINE)
DOWNLOAD_SECONDS = 300
_LIST_SECONDS = 120


def kernel_packages() -> list[str]:
    """Return the packages that hold this distribution's current kernel and its modules."""
    apt = Apt()
    for meta in META_PACKAGES:
        image = next((name for name in apt.depends(meta) if name.startswith(IMAGE)), None)
        if image:
            return apt.packages_of(image)
    raise Unavailable("apt knows no kernel package: run `apt-get update`, then try again")


def download(packages: list[str], directory: Path) -> list[Path]:
    """Download this distribution's packages into `directory`."""
    return Apt().download(packages, directory)


def age_key(release: str) -> list[int]:
    """Sort releases, or the packages named by them, from old to new by this."""
    return [int(number) for number in re.findall(r"\d+", release)]


@dataclass(frozen=True)
class Apt:
    """The system's apt, or another: one that reads a configuration file after the system's."""

    config: Path | None = None

    def releases(self) -> list[str]:
        """Return the releases of all plain kernels that can be downloaded, the newest first."""
        try:
            names = self.run("apt-cache", "pkgnames", IMAGE).split()
        except Unavailable:
            return []
        found = {match[1] for name in names if (match := _PLAIN_IMAGE.fullmatch(name))}
        known = self.known([f"{IMAGE}{release}" for release in found])
        releases = [name.removeprefix(IMAGE) for name in known]
        return sorted(releases, key=age_key, reverse=True)

    def packages_of(self, image: str) -> list[str]:
        """Return an image and the packages beside it that hold the rest of that kernel."""
        release = image.removeprefix(IMAGE)
        found: list[str] = []
        fresh = [image]
        while fresh:
            found += fresh
            needed = dict.fromkeys(self.depends(*fresh))
            parts = [name for name in needed if name.endswith(f"-{release}")]
            fresh = [name for name in parts if name not in found]
        extra = [f"linux-modules-{release}", f"linux-modules-extra-{release}"]
        return found + [name for name in self.known(extra) if name not in found]

    def depends(self, *packages: str) -> list[str]:
        """Return what packages need, of any version, with all alternatives."""
        try:
            lines = self.run("apt-cache", "depends", "--important", *packages).splitlines()
        except Unavailable:
            return []
        return [line.split(":", 1)[1].strip() for line in lines if "Depends:" in line]

    def download(self, packages: list[str], directory: Path) -> list[Path]:
        """Download packages into `directory`; what signed lists do not vouch for is refused."""
        try:
            self.run("apt-get", "download", *packages, cwd=directory, timeout=DOWNLOAD_SECONDS)
        except Unavailable as error:
            raise Unavailable(
                f"cannot download {packages[0]} ({error}): connect to the network or run"
                " `apt-get update`, then try again"
            ) from None
        return sorted(directory.glob("*.deb"))

    def closure(self, packages: Sequence[str], suite: str) -> list[str]:
        """Return packages and all that they need, each as apt names it of that suite."""
        options = ("--simulate", "--no-install-recommends", "--target-release", suite)
        planned = self.run("apt-get", "install", *options, *packages)
        return [f"{name}/{suite}" for name in _PLANNED.findall(planned)]

    def update(self) -> None:
        """Fetch the lists of packages anew; one that cannot be had is an error, no warning."""
        strict = ("-o", "APT::Update::Error-Mode=any")
        self.run("apt-get", "-q", *strict, "update", timeout=DOWNLOAD_SECONDS)

    def known(self, packages: list[str]) -> list[str]:
        """Return those of the packages that can be downloaded, and are not only spoken of."""
        if not packages:
            return []
        return _CANDIDATE.findall(self.run("apt-cache", "policy", *packages))

    def run(
        self, name: str, *words: str, cwd: Path | None = None, timeout: float = _LIST_SECONDS
    ) -> str:
        config = ["-c", str(self.config)] if self.config else []
        return run([tool(name), *config, *words], cwd=cwd, timeout=timeout)
