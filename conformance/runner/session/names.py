# SPDX-License-Identifier: BSD-2-Clause
"""What follows from a case's name: how reports call it, its seed and its files."""

import hashlib
import re
from pathlib import Path


def short_name(nodeid: str) -> str:
    """A case's name without folders."""
    path, _, rest = nodeid.partition("::")
    return f"{Path(path).stem.removeprefix('test_')}.{rest.removeprefix('test_')}"


def plain_name(name: str) -> str:
    """A case's name as `-k` takes it: of its parameters no spaces and no brackets but the outer."""
    function, begun, rest = name.partition("[")
    if not begun:
        return name
    words = re.sub(r"[^\w.+-]+", "_", rest.removesuffix("]"))
    return f"{function}[{re.sub(r'_?-_?', '-', words).strip('_')}]"


def expression_for(nodeid: str) -> str:
    """What `-k` takes for one case; a file whose name it does not take is left out."""
    path, _, name = nodeid.partition("::")
    words = [Path(path).stem, *name.split("::")]
    return " and ".join(word for word in words if re.fullmatch(r"[\w.+\-\[\]]+", word))


def case_seed(seed: int, name: str) -> int:
    """The seed of one case, the same wherever and in whatever order it runs."""
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return int.from_bytes(digest[:6], "big")


def file_name(case: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.+-]+", "_", case).strip("_") + ".pcapng"
