# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof nic replay``: what captures have asked one device is asked of another."""

import json
import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.markup import escape

from roceproof.common.errors import RoceproofError
from roceproof.common.progress import Progress
from roceproof.common.terminal import Terminal
from roceproof.conformance.capture.reader import read
from roceproof.conformance.nic.lanes import asked
from roceproof.conformance.nic.replay import differences, replay
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.targets.verbs.nic import NicFactory, NicOptions

Document = dict[str, Any]
SAME, DIFFERENT = 0, 1
_TOLD = 10


def run_replay(
    captures: Sequence[Path], interface: str, agent: str, *, as_json: bool, quiet: bool
) -> int:
    """Play all captures; 1 if the device answers any otherwise than the model."""
    options = NicOptions(interface=interface, agent=shlex.split(agent))
    documents = []
    with closing(NicFactory(options)) as factory, Progress(quiet=quiet) as progress:
        for path in _files(captures):
            progress.step(f"replaying {path}")
            documents.append(_played(path, factory))
    if not any(document["lanes"] for document in documents):
        left_out = sum(document["left_out"] for document in documents)
        raise RoceproofError(
            f"{captures[0]} asks for nothing to replay ({left_out} requests are left out): "
            "take a capture of requests on RC or UC (docs/nic.md)"
        )
    if as_json:
        print(json.dumps({"schema": 1, "made_of": factory.versions(), "captures": documents}))
    else:
        _tell(documents)
    return DIFFERENT if any(document["differences"] for document in documents) else SAME


def _files(captures: Sequence[Path]) -> list[Path]:
    found = [
        each
        for path in captures
        for each in (sorted(path.rglob("*.pcapng")) if path.is_dir() else [path])
    ]
    if not found:
        raise RoceproofError(f"there is no capture below {captures[0]}: run the gate first")
    return found


def _played(path: Path, factory: NicFactory) -> Document:
    requests = asked(read(path))
    model = replay(requests, ModelFactory())
    device = replay(requests, factory, due=model)
    return {"capture": str(path), **device, "differences": differences(device, model)}


def _tell(documents: Sequence[Document]) -> None:
    """Each capture that is answered otherwise, and the others together."""
    console = Terminal()
    alike = [document for document in documents if not document["differences"]]
    for document in documents:
        if found := document["differences"]:
            verdict = f"[red]{len(found)} answers are not the model's[/]"
            console.print(f"{escape(_asked([document]))}: {verdict}", highlight=False)
            for line in found[:_TOLD]:
                console.print(f"  {escape(line)}", highlight=False)
    if alike:
        console.print(f"{escape(_asked(alike))}: as the model", highlight=False)


def _asked(documents: Sequence[Document]) -> str:
    lanes = [lane for document in documents for lane in document["lanes"]]
    left_out = sum(document["left_out"] for document in documents)
    name = documents[0]["capture"] if len(documents) == 1 else f"{len(documents)} captures"
    words = (
        f"{name}: {sum(lane['requests'] for lane in lanes)} requests to {len(lanes)} queue pairs"
    )
    return words + (f", {left_out} left out" if left_out else "")
