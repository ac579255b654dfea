# SPDX-License-Identifier: BSD-2-Clause
"""The seeds of random plans that have found something, in a file beside the manifest.

`gate --fresh` adds to it one of each kind of failure that its fresh seeds have shown; every gate
of the manifest plays these first, whether they still fail or not.
"""

import json
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from roceproof.common.document import read_toml
from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable
from roceproof.common.shape import Word, flaw
from roceproof.common.whole_file import whole_file
from roceproof.conformance.suite.reporting.failure_heads import likeness

_SEEDS, _MOST, _LONGEST = range(1 << 62), 256, 200
_FRESH = 1_000_000_000
_SHAPE = {"seed": [{"seed": _SEEDS, "width": range(1, 1 << 16), "found": Word}]}
_HEAD = """\
# SPDX-License-Identifier: BSD-2-Clause
# Seeds of random plans that have found something: `roceproof gate` plays them first.
"""


class Kept(NamedTuple):
    """A seed that has found something, at which width, and what."""

    seed: int
    width: int
    found: str


def fresh_seed() -> int:
    """Where fresh seeds begin: behind those of gates whose `--seed` is small."""
    return _FRESH + secrets.randbelow(8 * _FRESH)


def place_of(manifest: Path) -> Path:
    """`dut.seeds.toml` for `dut.toml`."""
    return manifest.with_suffix(".seeds.toml")


def kept_seeds(manifest: Path) -> list[Kept]:
    """Those of a manifest; none where no file is."""
    path = place_of(manifest)
    if not path.exists():
        return []
    document = read_toml(path, mend="take it away, and fresh seeds begin anew")
    if wrong := flaw(document, _SHAPE):
        raise RoceproofError(f"{path}: {wrong}: take it away, and fresh seeds begin anew")
    return [Kept(**entry) for entry in document["seed"][:_MOST]]


def keep(manifest: Path, kept: Sequence[Kept], plans: Iterable[dict[str, Any]]) -> list[Kept]:
    """Add the first plan of each kind of failure that no kept seed shows; those that were added."""
    known = {(each.width, likeness(each.found)) for each in kept}
    added: list[Kept] = []
    for plan in plans:
        found = printable(shorten(" ".join(plan["head"].split()), _LONGEST, placeholder=" ..."))
        kind = plan["width"], likeness(found)
        if kind not in known and len(kept) + len(added) < _MOST:
            known.add(kind)
            added.append(Kept(plan["seed"], plan["width"], found))
    if added:
        with whole_file(place_of(manifest)) as part:
            part.write_text(_HEAD + "".join(map(_entry, [*kept, *added])), encoding="utf-8")
    return added


def _entry(kept: Kept) -> str:
    found = json.dumps(kept.found)
    return f"\n[[seed]]\nseed = {kept.seed}\nwidth = {kept.width}\nfound = {found}\n"
