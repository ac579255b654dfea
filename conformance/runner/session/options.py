# SPDX-License-Identifier: BSD-2-Clause
"""The `--roce-*` options: which target, which part of the suite, and what is kept."""

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from roceproof.common.paths import CASES, REFERENCE_DUT
from roceproof.conformance.runner.session.asked import Asked, asked, spelled, words_of
from roceproof.conformance.runner.session.names import expression_for
from roceproof.conformance.runner.session.resume_journal import Over, cases_over
from roceproof.conformance.targets.interface import DeviceFactory, TargetError

_PREFIX = "--roce-"


@dataclass(frozen=True, kw_only=True)
class Options(Asked):
    """What is asked of one session, with where it leaves what it finds."""

    dut: Path = asked(
        "Manifest of the device (hdl); the reference if not given.",
        default=REFERENCE_DUT,
        of=Path,
        repeats=True,
    )
    captures: Path = asked("Where captures go.", default=Path("build/conformance"), of=Path)
    report: Path | None = asked("Where to write results as JSON.", of=Path)
    journal: Path | None = asked("Where to note each case that is over.", of=Path)
    resumed: int = asked("Bytes of it that are of the run before.", default=0, of=int)
    coverage: Path | None = asked("Where to write functional coverage as JSON.", of=Path)
    code_coverage: Path | None = asked("Folder for the simulator's coverage (hdl).", of=Path)
    reached: Path | None = asked(
        "Folder for which planted faults each case reaches (hdl).", of=Path
    )
    cases: tuple[str, ...] = ()

    @property
    def simulated(self) -> bool:
        """Whether frames are seen as a simulated device drives them; a mutant may lie between."""
        return self.target == "hdl" and self.mutant is None

    def cases_over(self) -> Mapping[str, Over]:
        """What came of the cases of the run that is taken up, by their node ids."""
        return cases_over(self.journal, self.resumed) if self.journal and self.resumed else {}

    def replay(self, nodeid: str) -> str:
        """The command that runs one case again."""
        words = self._words(self.cases)
        if self.suite == "long":
            words += ["--suite", "long"]
        return shlex.join([*words, "--seed", str(self.seed), "-k", expression_for(nodeid)])

    def replay_file(self, path: Path, width: int | None) -> str:
        """The command that runs a file with a case that was found."""
        of_width = ["--width", str(width)] if width else []
        return shlex.join([*self._words([os.path.relpath(path)]), *of_width])

    def _words(self, cases: Iterable[str]) -> list[str]:
        return ["roceproof", "test", *cases, *words_of(self, repeats=True)]


def session_arguments(what: str | Asked, *, root: Path = CASES) -> list[str]:
    """What every session of ours begins with, over a target; it prints nothing by itself.

    All cases lie below `root`: by that pytest tells those apart that two files call alike.
    """
    return [
        *("-c", str(CASES / "pytest.ini"), "--rootdir", str(root)),
        *("-p", "no:terminal"),
        *words_of(what if isinstance(what, Asked) else Asked(target=what), prefix=_PREFIX),
    ]


def add_options(parser: pytest.Parser) -> None:
    """Declare them; they are inert until a target is named."""
    group = parser.getgroup("roceproof", "RoCEv2 conformance")
    for option in fields(Options):
        if "help" not in option.metadata:
            continue
        how: dict[str, Any] = {"type": option.metadata["of"]}
        if option.default is False:
            how = {"action": "store_true"}
        elif option.default == ():
            how |= {"action": "append"}
        elif choices := getattr(option.metadata.get("type"), "choices", None):
            how |= {"choices": choices}
        group.addoption(spelled(option, prefix=_PREFIX), help=option.metadata["help"], **how)


def read_options(config: pytest.Config) -> Options | None:
    """What was asked for, None if no target was."""
    names = {each.name: spelled(each, prefix=_PREFIX) for each in fields(Options)}
    given = {name: config.getoption(option, None) for name, option in names.items()}
    if given["target"] is None:
        return None
    given["dut"] = (given["dut"] or REFERENCE_DUT).resolve()
    given["cases"] = tuple(path for path in config.args if Path(path) != CASES)
    given["width"] = tuple(given["width"] or ())
    return Options(**{name: value for name, value in given.items() if value is not None})


@cache
def widths_of(options: Options) -> tuple[int | None, ...]:
    """The data widths to test at: those asked for, else all of the manifest's."""
    if options.target != "hdl":
        return (None,)
    from roceproof.dpi.manifest.dut import load_manifest

    manifest = load_manifest(options.dut)
    unknown = set(options.width) - set(manifest.data_widths)
    if unknown:
        raise TargetError(
            f"{manifest.name} has no width {min(unknown)}; its manifest says "
            f"{list(manifest.data_widths)}"
        )
    return options.width or manifest.data_widths


def open_factory(options: Options, width: int | None) -> DeviceFactory:
    """Where devices come from. Nothing is built or booted yet."""
    if options.mutant:
        from roceproof.conformance.mutants.factory import mutant_factory

        return mutant_factory(options.mutant, target=options.target, width=width)
    if options.reached:
        from roceproof.conformance.mutants.rtl_factory import watched_factory

        return watched_factory(options.reached, data_width=width)
    if options.target == "hdl":
        from roceproof.conformance.targets.hdl.factory import HdlFactory
        from roceproof.dpi.manifest.dut import load_manifest

        manifest = load_manifest(options.dut)
        return HdlFactory(
            manifest, data_width=width, coverage=options.code_coverage, is_patient=False
        )
    if options.target == "model":
        if options.dut != REFERENCE_DUT:
            from roceproof.conformance.targets.model.limited import LimitedModelFactory
            from roceproof.dpi.manifest.dut import load_manifest

            return LimitedModelFactory(load_manifest(options.dut))
        from roceproof.conformance.targets.model.device import ModelFactory

        return ModelFactory()
    if options.target == "rxe":
        from roceproof.conformance.targets.verbs.rxe import RxeFactory

        return RxeFactory(options.kernel)
    from roceproof.conformance.targets.verbs.nic import NicFactory, NicOptions

    if not options.interface or not options.agent:
        raise TargetError("--target nic needs --interface and --agent; see docs/nic.md")
    return NicFactory(
        NicOptions(
            interface=options.interface,
            agent=tuple(shlex.split(options.agent)),
            mirror=options.mirror,
            device_ip=options.device_ip,
        )
    )
