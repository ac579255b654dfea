# SPDX-License-Identifier: BSD-2-Clause
"""Hold the tree to its rooms.

No folder of ours holds more source files than can be looked through, and of the rooms of C none
includes from one that includes from it, at however many removes. Prints what does and exits 1.
"""

import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

MOST = 25
SOURCES = {
    *(".awk", ".c", ".cpp", ".css", ".h", ".js", ".lua", ".py", ".sh"),
    *(".sv", ".svh", ".toml", ".v", ".vhd", ".vlt"),
}
# Each may be as flat as it is, for the reason given; tests/ is no room of ours.
FLAT = {
    "conformance/cases": "a file for each family of rules, found by its name",
    "conformance/mutants/families": "a file for each family of rules, as the cases have it",
}
C_ROOMS = ("dpi/src", "pcap", "rxe_env/agent")  # files in them include by the path from there


def crowded(files: list[Path]) -> Iterator[str]:
    """Tell each folder that wants rooms, of files by their paths in the tree."""
    sources = (path for path in files if path.suffix in SOURCES and path.parts[0] != "tests")
    for folder, count in sorted(Counter(path.parent.as_posix() for path in sources).items()):
        if count > MOST and folder not in FLAT:
            yield f"{folder}: {count} source files; give it rooms by job of at most {MOST} each"
        elif count <= MOST and folder in FLAT:
            yield f"{folder}: {count} source files, and still in FLAT of ci/lint_rooms.py; drop it"


def circle(root: Path) -> Iterator[str]:
    """Tell a circle of rooms below that folder, if there is one, and a place where it closes."""
    knows: dict[str, set[str]] = defaultdict(set)
    places: dict[tuple[str, str], str] = {}
    for path in sorted(root.rglob("*.[ch]")):
        room = path.parent.relative_to(root).as_posix()
        for name in re.findall(r'^#include "(.+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
            other = Path(name).parent.as_posix()
            if other != room and (root / name).exists():
                knows[room].add(other)
                places.setdefault((room, other), f"{path} includes {name}")
    try:
        TopologicalSorter(knows).prepare()
    except CycleError as error:
        rooms = error.args[1][::-1]
        steps = [places[step] for step in pairwise(rooms)]
        yield f"{root}: {' -> '.join(rooms)} is a circle; move what one needs of another below both"
        yield from (f"  {step}" for step in steps)


def main() -> int:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split("\0")
    found = [*crowded([path for path in map(Path, filter(None, names)) if path.exists()])]
    found += [line for root in C_ROOMS for line in circle(Path(root))]
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
