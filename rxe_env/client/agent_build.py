# SPDX-License-Identifier: BSD-2-Clause
"""Builds the verbs agent with the system's C compiler, once per content of its sources."""

from pathlib import Path

from roceproof.common import packages
from roceproof.rxe_env import cache
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import Unavailable

SOURCE_DIR = Path(__file__).parents[1] / "agent"
NAME = "roceproof-agent"
FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-I.")  # in SOURCE_DIR
OPTIMISED = ("-O2",)
SANITISED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LIBRARIES = ("-libverbs", "-lrdmacm", "-ljansson", "-lmd")
RDMA_LIBRARIES = ("librdmacm", "libibverbs")  # as pkg-config calls them
# Every device's user-space driver of rdma-core in it; the same bytes wherever it is built.
STATIC = ("-static", "-s", "-DRDMA_STATIC_PROVIDERS=all", "-Wl,--build-id=none")
HEADERS = ("infiniband/verbs.h", "rdma/rdma_cma.h", "jansson.h", "sha2.h")


def build_static_agent() -> Path:
    """Return the path of an agent to copy: one file that needs nothing of the host it runs on."""
    listed = run([tool("pkg-config"), "--static", "--libs", *RDMA_LIBRARIES]).split()
    return build_agent(flags=(*OPTIMISED, *STATIC), libraries=(*listed, "-ljansson", "-lmd"))


def build_agent(
    *, flags: tuple[str, ...] = OPTIMISED, libraries: tuple[str, ...] = LIBRARIES
) -> Path:
    """Return the path of an agent built from the current sources."""
    compiler = tool("cc")
    sources = sorted(SOURCE_DIR.rglob("*.c"))
    inputs = [path.read_bytes() for path in (*sources, *sorted(SOURCE_DIR.rglob("*.h")))]
    # No folder of this machine gets into the program.
    names = [path.relative_to(SOURCE_DIR) for path in sources]
    version = run([compiler, "--version"])

    def build(place: Path) -> None:
        _require_headers(compiler, place)
        output = ("-o", place / NAME)
        run([compiler, *FLAGS, *flags, *names, *output, *libraries], timeout=120, cwd=SOURCE_DIR)

    key = cache.digest(version, *FLAGS, *flags, *libraries, *inputs)
    return cache.entry("agent", key, build) / NAME


def _require_headers(compiler: str, scratch: Path) -> None:
    probe = scratch / "probe.c"
    for header in HEADERS:
        probe.write_text(f"#include <{header}>\n")
        try:
            run([compiler, "-fsyntax-only", probe])
        except Unavailable:
            package = packages.HEADERS[header]
            raise Unavailable(f"{header} is missing: apt-get install {package}") from None
    probe.unlink()
