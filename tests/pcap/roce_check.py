# SPDX-License-Identifier: BSD-2-Clause
"""Runs roce-check over frames and reads what it prints."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pcap_writer import write_pcap

RUN_SECONDS = 120
Place = tuple[int, str, str]
"""Frame, rule and severity of a finding."""
Open = tuple[str, int, str, int, int, str, bool]
"""A message without its LAST: source, QPN, operation, frame, bytes, length, whether it began."""
Waiting = tuple[str, int, int, int, str]
"""A READ or ATOMIC without its whole answer: source, QPN, frame, responses seen, of how many."""


@dataclass(frozen=True)
class Checked:
    """What the tool said of one capture."""

    code: int
    text: str
    errors: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Everything it printed, one object a line."""
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def places(self) -> list[Place]:
        """All findings, sorted."""
        found = [line for line in self.lines if line["type"] == "finding"]
        return sorted((line["frame"], line["rule"], line["severity"]) for line in found)

    @property
    def unfinished(self) -> list[Open]:
        """The messages whose end the capture does not show, sorted."""
        flows = [line for line in self.lines if line["type"] == "flow" and line["unfinished"]]
        return sorted(
            (
                flow["source"],
                flow["qpn"],
                told["operation"],
                told["frame"],
                told["bytes"],
                str(told["length"]),
                told["from_start"],
            )
            for flow in flows
            for told in [flow["unfinished"]]
        )

    @property
    def unanswered(self) -> list[Waiting]:
        """The last READs and ATOMICs whose answers are not whole, sorted."""
        flows = [line for line in self.lines if line["type"] == "flow" and line["unanswered"]]
        return sorted(
            (flow["source"], flow["qpn"], told["frame"], told["responses"], str(told["of"]))
            for flow in flows
            for told in [flow["unanswered"]]
        )

    @property
    def summary(self) -> dict[str, Any]:
        """The last line."""
        return self.lines[-1]


@dataclass(frozen=True)
class RoceCheck:
    """The tool, and where its input may be written."""

    tool: Path
    folder: Path

    def file(self, path: Path, *options: str) -> Checked:
        """Judge a capture that exists."""
        command = [str(self.tool), *options, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS)
        return Checked(done.returncode, done.stdout, done.stderr)

    def frames(
        self, frames: Iterable[bytes], *options: str, facts: dict[str, Any] | None = None
    ) -> Checked:
        """Judge frames that stand a microsecond apart."""
        path = self.folder / "capture.pcap"
        write_pcap(path, [(number * 1000, frame) for number, frame in enumerate(frames)])
        if facts is not None:
            options = (*options, *self.qps(json.dumps(facts)))
        return self.file(path, *options)

    def qps(self, text: str) -> tuple[str, str]:
        """The options for facts with that text."""
        path = self.folder / "qps.json"
        path.write_text(text)
        return "--qps", str(path)
