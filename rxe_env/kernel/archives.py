# SPDX-License-Identifier: BSD-2-Clause
"""Debian's kernels of every suite, through an apt configuration of our own.

Sources, lists and state lie in the cache; nothing of the system's apt is written, and what is
installed here means nothing to it. Signatures are checked against Debian's keyring, whatever the
system's apt allows. The dates of lists are not: a mirror that lags offers a kernel of some weeks
ago, which is one to test as well.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from roceproof.common.paths import cache_dir
from roceproof.rxe_env import cache
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import Unavailable
from roceproof.rxe_env.kernel.apt import Apt

SUITES = ("bookworm", "bookworm-backports", "trixie", "trixie-backports", "sid")
MIRROR = "http://deb.debian.org/debian"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
FRESH_SECONDS = 24 * 3600.0

_CONFIG = """\
Dir::Etc::sourcelist "{home}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "{home}";
Dir::State::status "/dev/null";
Dir::Cache "{scratch}";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "";
APT::Architecture "amd64";
APT::Architectures {{ "amd64"; }};
APT::Default-Release "";
APT::Sandbox::User "{user}";
Acquire::Languages "none";
Acquire::GzipIndexes "true";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
APT::Get::AllowUnauthenticated "false";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""


@contextmanager
def opened(
    progress: Callable[[str], None], *, refresh: bool = False, mirror: str | None = None
) -> Iterator[Apt]:
    """Yield an apt that knows Debian's suites.

    Its lists are fetched first where there are none and, to `refresh`, where they are of
    yesterday. A suite that cannot be had is left out.
    """
    if not KEYRING.exists():
        raise Unavailable(f"{KEYRING} is missing: apt-get install debian-archive-keyring")
    home = cache_dir() / "apt"
    with cache.locked("apt"), tempfile.TemporaryDirectory(prefix="roceproof-apt-") as scratch:
        (home / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        archive = mirror or _mirror()
        trusted = f"[signed-by={KEYRING} arch=amd64 target=Packages]"
        lines = [f"deb {trusted} {archive} {suite} main\n" for suite in SUITES]
        (home / "sources.list").write_text("".join(lines))
        config = Path(scratch, "apt.conf")
        # Root's apt would drop privileges, and could then not read a cache of root's own.
        config.write_text(_CONFIG.format(home=home, scratch=scratch, user="root"))
        apt = Apt(config)
        if not _are_fresh(home, any_age=not refresh):
            progress("asking Debian's archive which kernels there are")
            _update(apt, home)
        yield apt


def _update(apt: Apt, home: Path) -> None:
    try:
        apt.update()
    except Unavailable as error:
        if not _lists(home):
            raise Unavailable(
                f"cannot ask Debian's archive for kernels ({error}): connect to the network,"
                " or name packages on disk with --kernel"
            ) from None
        return
    (home / "updated").touch()


def _are_fresh(home: Path, *, any_age: bool) -> bool:
    if not _lists(home):
        return False
    try:
        age = time.time() - (home / "updated").stat().st_mtime
    except FileNotFoundError:
        return any_age
    return any_age or age < FRESH_SECONDS


def _lists(home: Path) -> list[Path]:
    return list((home / "lists").glob("*_Packages*"))


def _mirror() -> str:
    """The mirror that apt here has Debian from, so that what reaches it reaches this."""
    try:
        targets = run(
            [
                *(tool("apt-get"), "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(LABEL)"),
                "Created-By: Packages",
            ]
        )
    except Unavailable:
        return MIRROR
    known = [line.split(" ", 1) for line in targets.splitlines()]
    return next((uri for uri, who in known if who == "Debian Debian"), MIRROR)
