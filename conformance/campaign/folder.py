# SPDX-License-Identifier: BSD-2-Clause
"""The folder of a campaign: `corpus/` has entries, `findings/` a folder each, `runs/` a file each.

Everything in it appears whole, under a name that follows from what it is, so runs on any number of
machines may share it, and one that is killed leaves nothing half done.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from roceproof.common.errors import RoceproofError
from roceproof.common.whole_file import whole_file
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.stimulus.plan_text import plan_of, text_of

CASE, STORY, CAPTURE, ENTRY = "test_found.py", "story.txt", "capture.pcapng", "small.plan"
_SUFFIX = ".plan"
_FACTS, _KINDS, _NAMED = "finding.json", "kinds", ".named"
_DIGITS = 12


class Folder:
    """One that is there, or comes to be when something is kept in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def require(self) -> None:
        """Refuse what no campaign has written."""
        if not self._runs.is_dir():
            raise RoceproofError(f"{self.path}: no campaign: `roceproof fuzz run` begins one")

    # entries

    def keep(self, plan: Plan) -> Path:
        """Make a plan an entry; the same plan is always the same one."""
        text = text_of(plan)
        path = self._entry_of(text)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as part:
            part.write_text(text)
        return path

    def forget(self, plan: Plan) -> None:
        """A plan is no entry any more."""
        self._entry_of(text_of(plan)).unlink(missing_ok=True)

    def entries(self) -> list[Path]:
        """Those of anybody, such as texts that a person has put there."""
        return sorted(path for path in self._corpus.glob(f"[!.]*{_SUFFIX}"))

    # findings

    def findings(self) -> list[dict[str, Any]]:
        """The facts of each, with its `folder`, in the order of their names."""
        found = []
        for path in sorted(self._findings.glob(f"[!.]*/{_FACTS}")):
            try:
                found.append(json.loads(path.read_text()) | {"folder": path.parent})
            except ValueError as error:
                raise RoceproofError(f"{path}: {error}: remove its folder") from None
        return found

    def causes(self) -> dict[str, str]:
        """By the kinds of failures that are known, the names of their findings."""
        return {
            kind: path.parent.parent.name
            for path in sorted(self._findings.glob(f"[!.]*/{_KINDS}/*"))
            for kind in [path.read_text()]
        }

    def declared(self, causes: Mapping[str, str]) -> dict[str, str]:
        """By those kinds of `causes` that are declared deviations of a device, their names."""
        named = {each["folder"].name: each.get("declared") for each in self.findings()}
        return {kind: said for kind, name in causes.items() if (said := named.get(name))}

    def place_of(self, kind: str, rules: tuple[str, ...]) -> Path:
        """Where the finding of a kind of failure is; whoever asks first gives it its name.

        One kind may break other rules from plan to plan, and two workers may find it at once.
        """
        named = self._findings / _NAMED / _digest(kind)
        named.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            named.symlink_to(Path("..") / f"{rules[0] if rules else 'NONE'}-{named.name}")
        return self._findings / named.readlink().name

    def is_like(self, place: Path, kind: str) -> None:
        """Failures of that kind, too, have the cause of a finding."""
        path = place / _KINDS / _digest(kind)
        path.parent.mkdir(exist_ok=True)
        with whole_file(path) as part:
            part.write_text(kind)

    @contextmanager
    def finding(self, place: Path, facts: Mapping[str, Any]) -> Iterator[Path]:
        """Give the block a folder to fill, which takes its place unless another run was first."""
        place.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=".", dir=place.parent))
        try:
            yield part
            (part / _FACTS).write_text(json.dumps(facts, indent=1) + "\n")
            part.chmod(0o755)
            if not place.exists():
                part.rename(place)
        except OSError:
            if not place.exists():
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)

    # runs

    def begin(self, facts: Mapping[str, Any]) -> Path:
        """The file of a new run, whose number no other has."""
        self._runs.mkdir(parents=True, exist_ok=True)
        number = 1 + max((int(path.stem) for path in self._run_files()), default=0)
        while True:
            path = self._runs / f"{number:04}.json"
            try:
                with path.open("x") as file:
                    file.write(json.dumps(facts) + "\n")
                return path
            except FileExistsError:
                number += 1

    def runs(self) -> list[dict[str, Any]]:
        """What each run has told last, with its `number`."""
        found = []
        for path in self._run_files():
            try:
                found.append({"number": int(path.stem), **json.loads(path.read_text())})
            except ValueError as error:
                raise RoceproofError(f"{path}: {error}: remove it") from None
        return found

    def rounds(self, number: int) -> list[dict[str, Any]]:
        """What a run has told behind each of its rounds; a line that is not whole ends them."""
        path, told = self._runs / f"{number:04}.jsonl", []
        with suppress(OSError, ValueError):
            for line in path.read_text(encoding="utf-8").splitlines():
                told.append(json.loads(line))
        return told

    def _run_files(self) -> list[Path]:
        return sorted(self._runs.glob("[0-9]*.json"))

    def _entry_of(self, text: str) -> Path:
        return self._corpus / f"{_digest(text)}{_SUFFIX}"

    @property
    def _corpus(self) -> Path:
        return self.path / "corpus"

    @property
    def _findings(self) -> Path:
        return self.path / "findings"

    @property
    def _runs(self) -> Path:
        return self.path / "runs"


def plans_of(paths: Iterable[Path]) -> Iterator[Plan]:
    """The plans of entries, but for those that another run has forgotten meanwhile."""
    for path in paths:
        try:
            yield read_entry(path)
        except RoceproofError:
            if path.exists():
                raise


def read_entry(path: Path) -> Plan:
    """The plan of an entry, or of any file with a plan's text."""
    try:
        return plan_of(path.read_text(encoding="utf-8"), name=str(path))
    except OSError as error:
        raise RoceproofError(f"{path}: {error.strerror}: name a file with a plan") from error
    except UnicodeDecodeError:
        raise RoceproofError(f"{path}: no text: name a file with a plan") from None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
