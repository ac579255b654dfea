# SPDX-License-Identifier: BSD-2-Clause
"""Looks at what a host says of itself below /sys, /proc and /dev/infiniband, here or far away."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from roceproof.rxe_env.client.verbs import Verbs


class Seen(NamedTuple):
    """What is at a path; all empty where there is nothing."""

    exists: bool = False
    readable: bool = False
    writable: bool = False
    text: str = ""
    names: tuple[str, ...] = ()
    link: str = ""


Look = Callable[[str], Seen]


def here(path: str) -> Seen:
    place = Path(path)
    link = str(place.readlink()) if place.is_symlink() else ""
    readable, writable = os.access(place, os.R_OK), os.access(place, os.W_OK)
    if place.is_dir():
        names = tuple(sorted(below.name for below in place.iterdir()))
        return Seen(True, readable, writable, names=names, link=link)
    text = ""
    if place.is_file():
        try:
            text = place.read_text(errors="replace")
        except OSError:
            text = ""
    return Seen(place.exists(), readable, writable, text, link=link)


def through(agent: Verbs) -> Look:
    """Look on the host of a verbs agent."""

    def look(path: str) -> Seen:
        got = agent.call("look", path=path)
        return Seen(
            got["exists"],
            got["readable"],
            got["writable"],
            got.get("text") or "",
            tuple(sorted(got.get("names", ()))),
            got.get("link", ""),
        )

    return look


def line(look: Look, path: str) -> str:
    """The first line of a file, "" if there is none."""
    return next(iter(look(path).text.splitlines()), "").strip()
