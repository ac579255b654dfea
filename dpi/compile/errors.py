# SPDX-License-Identifier: BSD-2-Clause
"""Picks out of a build's log what a person needs: each error once, and not more than a screen."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

MOST_LINES = 20
LONGEST_LINE = 300
_ERROR = re.compile(r"%Error|\berror: |undefined reference|internal fault|Segmentation|Killed")
_EMPTY_WORDS = re.compile(r"%Error: (Exiting due to|Command Failed)")
_SHOWN = re.compile(
    r"^%Error(?:-[A-Z0-9]+)?: (?P<file>\S+):\d+:\d+: (?P<says>.*)\n"
    r"(?: .*\n)*? *\d+ \|(?P<line>.*)$",
    re.MULTILINE,
)
_NO_PORT = re.compile(r"Pin not found: '(\w+)'")
_OTHER_WIDTH = re.compile(
    r"^%Warning-WIDTH[A-Z]*: (?P<file>\S+):\d+:\d+: \w+ port connection '(?P<port>\w+)' expects "
    r"(?P<has>\d+) bits.* generates (?P<wanted>\d+) bits",
    re.MULTILINE,
)
_PLACE = re.compile(r"^%Error(-[A-Z0-9]+)?: \S+:\d+:\d+: ")


def build_errors(log: str) -> list[str]:
    """The lines that name errors, with file and line where the tool says them; its last otherwise.

    An error that Verilator shows with its source line keeps that line.
    """
    lines = [_plain(line) for line in log.splitlines() if line.strip()]
    named: dict[str, None] = {}
    source_line_follows = False
    for line in lines:
        is_error = bool(_ERROR.search(line)) and not _EMPTY_WORDS.search(line)
        if is_error or (source_line_follows and re.match(r"\s*\d+ \|", line)):
            named[line] = None
        source_line_follows = is_error and bool(_PLACE.match(line))
    if not named:
        return lines[-MOST_LINES:]
    kept = list(named)
    more = len(kept) - MOST_LINES
    return kept[:MOST_LINES] + [f"... and {more} more lines"] * (more > 0)


def misfit(log: str, pasted: Mapping[str, Sequence[str]], *, where: Path) -> str | None:
    """The first error at what a manifest has put into sources of ours, which lie in a folder.

    `pasted` has, by the manifest's keys, what stands there of them, or what an error says of it,
    first of all what brings errors at others; None if it is none of that.
    """
    ours = [found for found in _SHOWN.finditer(log) if Path(found["file"]).parent == where]
    for key, texts in pasted.items():
        for found in ours:
            if any(text in found["line"] or text in found["says"] for text in texts):
                return _plain(f"{key}: {found['says']}")
    return None


def lacking_ports(log: str, *, where: Path) -> list[str]:
    """Ports that sources of ours, which lie in a folder, connect and the device does not have."""
    ours = [found for found in _SHOWN.finditer(log) if Path(found["file"]).parent == where]
    names = [_NO_PORT.match(found["says"]) for found in ours]
    return list(dict.fromkeys(name[1] for name in names if name))


def other_widths(log: str, *, where: Path) -> list[str]:
    """Ports of the device that are not as wide as what sources of ours, in a folder, connect."""
    return [
        f"{found['port']} has {found['has']} bits and not {found['wanted']}"
        for found in _OTHER_WIDTH.finditer(log)
        if Path(found["file"]).parent == where
    ]


def _plain(line: str) -> str:
    text = "".join(c if c.isprintable() else "?" for c in line.expandtabs())
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}..."
