# SPDX-License-Identifier: BSD-2-Clause
"""The reference endpoint live: every byte into Soft-RoCE in a guest, and pings through a TAP."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import rmtree

from roceproof.conformance.scenarios.frames.command import told_by
from roceproof.conformance.scenarios.scenario import (
    Check,
    Plot,
    Row,
    Scene,
    SceneScenario,
    at_least,
    exactly,
)

_ID = "light-live"


def _scenes(quick: bool, _seed: int) -> Iterator[Scene]:
    if not quick:
        yield Scene({"demonstration": "demo"}, _demo)
        yield Scene({"demonstration": "demo-tap"}, _ping)


def _demo(folder: Path) -> Row:
    told_by("demo", "-q", "--out", "demo", place=folder.absolute(), scenario=_ID)
    place = folder / "demo"
    messages = json.loads((place / "result.json").read_text())["messages"]
    (place / "capture.pcapng").replace(folder / "demo.pcapng")
    rmtree(place)
    landed = [each for each in messages if each["ok"]]
    return {
        "sent": len(messages),
        "arrived": len(landed),
        "bytes": sum(each["length"] for each in landed),
    }


def _ping(folder: Path) -> Row:
    told = told_by("demo-tap", "-q", place=folder.absolute(), scenario=_ID)
    place = folder / "build"
    (place / "demo-tap" / "capture.pcapng").replace(folder / "demo-tap.pcapng")
    rmtree(place)
    counts = [tuple(map(int, each)) for each in re.findall(r" (\d+)/(\d+) ", told)]
    return {"sent": sum(sent for _, sent in counts), "arrived": sum(back for back, _ in counts)}


def _checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        yield at_least(f"{row['demonstration']}: sent", 36, row["sent"])
        yield exactly(f"{row['demonstration']}: came back or landed", row["sent"], row["arrived"])


LIVE = SceneScenario(
    id=_ID,
    title="the reference endpoint live: messages into Soft-RoCE, pings through a TAP",
    published="simulated live over XGMII, DPI-C and a TAP, against Soft-RoCE",
    points=_scenes,
    checks=_checks,
    plot=Plot("demonstration", "arrived", (), "demonstration", "arrived", log_x=False),
)

SCENARIOS: tuple[SceneScenario, ...] = (LIVE,)
