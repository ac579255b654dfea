# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof nic rehearse``: the whole kit without a card.

Guests with different kernels are NICs of different vendors, each behind a TAP of a private
namespace and with the agent that one copies. The commands are those of a card's user, the doctor
first; then the results are merged and compared.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from roceproof.common.children import run_to_end
from roceproof.common.errors import RoceproofError
from roceproof.common.outcome import end_with, exit_interrupted
from roceproof.common.output import output_directory
from roceproof.common.progress import Progress
from roceproof.conformance.demo.tap import UNSHARE, require_tap
from roceproof.conformance.nic.matrix_report import merge, run_diff
from roceproof.conformance.nic.stand_in import stand_in
from roceproof.rxe_env.client.agent_build import build_static_agent
from roceproof.rxe_env.kernel import versions
from roceproof.rxe_env.vm import saved, vm_backend
from roceproof.rxe_env.vm.qemu import Machine

DEFAULT = ("6.1", "6.12")
FINE, FINDINGS = 0, 1
_COMMAND = "from roceproof.cli.entry import main; main()"


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """What is asked of which guests."""

    kernels: Sequence[str]
    suite: str
    seed: int
    expression: str | None
    captures: Sequence[Path]
    out: Path
    quiet: bool


def run_rehearsal(wanted: Rehearsal) -> int:
    """Run it all; 1 if a device does what nobody has declared. To differ is no finding."""
    require_tap()
    guests = _prepared(wanted)
    code = FINE
    with output_directory(wanted.out):
        for release, words in guests.items():
            code = max(code, _asked(words, wanted.out / release, wanted))
    places = [wanted.out / release for release in guests]
    merge(places, wanted.out)
    for a, b in combinations(places, 2):
        run_diff(a, b, as_json=False)
    return code


def _prepared(wanted: Rehearsal) -> dict[str, str]:
    """Fetch and save the guests, which may need the network: words for each kernel by release."""
    guests = {}
    with Progress(quiet=wanted.quiet) as progress:
        for name in wanted.kernels:
            release = versions.find(name, progress.step).release
            guests[release] = versions.pinned(name)
            saved.state_for(_machine(guests[release]), progress.step)
    return guests


def _asked(kernel: str, place: Path, wanted: Rehearsal) -> int:
    """Ask one guest, from a namespace of its own."""
    suite = ["--suite", wanted.suite, "--seed", str(wanted.seed), "--out", str(place)]
    suite += ["-k", wanted.expression] if wanted.expression else []
    suite += ["-q"] if wanted.quiet else []
    inner = [sys.executable, "-P", "-m", "roceproof.conformance.nic.rehearsal", kernel]
    inner += [*map(str, wanted.captures), "--", *suite]
    code = _code([*UNSHARE, *inner])
    if code not in (FINE, FINDINGS):
        raise RoceproofError(f"the rehearsal with {place.name} did not end well: see above")
    return code


def _machine(kernel: str) -> Machine:
    return vm_backend.machine(lambda text: None, kernel=kernel, agent=build_static_agent())


def _code(command: Sequence[str]) -> int:
    """How a command ends that says what it has to say itself."""
    return run_to_end(command, timeout=None, stdout=None, stderr=None).returncode


def main() -> int:
    """Run the inner half; what is to be said of an interruption is said outside."""
    try:
        return rehearse(sys.argv[1:])
    except KeyboardInterrupt:
        return exit_interrupted()


def rehearse(arguments: Sequence[str]) -> int:
    """The half in the namespace: what a card's user types, in that order."""
    at = arguments.index("--")
    kernel, *captures = arguments[:at]
    roceproof = [sys.executable, "-P", "-c", _COMMAND]
    with stand_in(_machine(kernel)) as device:
        where = ["--interface", device.interface, "--agent", device.agent]
        doctor = _code([*roceproof, "nic", "doctor", *where])
        if doctor:
            return doctor + FINDINGS
        test = [*roceproof, "test", "--target", "nic", *where, *arguments[at + 1 :]]
        code = _code(test)
        if captures:
            again = [*roceproof, "nic", "replay", *captures, *where]
            again += ["-q"] if "-q" in arguments[at:] else []
            code = max(code, _code(again))
        return code


if __name__ == "__main__":
    end_with(main)
