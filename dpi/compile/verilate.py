# SPDX-License-Identifier: BSD-2-Clause
"""From SystemVerilog and C to an executable, in a directory of its own.

Verilator generates C++ and the DPI header, the bridge's C is compiled against that header, and
Verilator's makefile builds the rest. All that the tools say goes to build.log.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from signal import Signals

from roceproof.common.children import run_to_end
from roceproof.common.errors import RoceproofError
from roceproof.common.exit_codes import Exit
from roceproof.common.notice import notice
from roceproof.common.packages import missing_header, missing_tools
from roceproof.common.plain_path import unbuildable
from roceproof.dpi.compile.errors import build_errors, lacking_ports, misfit, other_widths
from roceproof.dpi.manifest.circuit import MEANINGFUL_WARNINGS, Circuit
from roceproof.dpi.manifest.included import included

ROOM = Path(__file__).resolve().parents[1]
BRIDGE = ROOM / "src"  # whose files include each other by their paths in it
BRIDGE_C = tuple(sorted(BRIDGE.rglob("*.c")))
BRIDGE_HEADERS = tuple(sorted(BRIDGE.rglob("*.h")))
MAIN = BRIDGE / "main.cpp"

TOOLS = ("verilator", "make", "g++", "cc")
TOP = "roceproof_top"
BACKDOOR = "ROCEPROOF_BACKDOOR"  # a macro: the bench looks into a memory of the device
MODEL = "Vroceproof"
EXECUTABLE = "simulation"
_MOST_PORTS = 6  # of those that a device lacks are named
C_FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror")
VERILATOR_FLAGS = (
    *("-O3", "--x-assign", "fast", "--x-initial", "fast", "--assert"),
    *("--timescale", "1ps/1ps", "-Wno-fatal", "-Werror-USERFATAL", "-Werror-USERERROR"),
)
# Wide enough for every record and beat; lines include branches.
COVERAGE_CONFIG = Path(__file__).with_name("coverage.vlt")
COVERAGE_FLAGS = ("--coverage-line", "--coverage-toggle", "--coverage-max-width", "1024")
# Code that runs every cycle is worth -O2; start-up code is not.
MAKE_FLAGS = ("OPT_FAST=-O2", "OPT_SLOW=-O1", "OPT_GLOBAL=-O2")
# Counters and waves make the code many times as long: in pieces, most of them start-up code.
LONG_MAKE_FLAGS = ("OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O2")
# In one piece a model takes a third of the processor time, in many it keeps many processors busy.
MANY_PROCESSORS = 4
IN_ONE_PIECE = "VM_PARALLEL_BUILDS=0"
BUILD_SECONDS = 1800
QUESTION_SECONDS = 60
_WARNING = re.compile(rf"^%Warning-({'|'.join(MEANINGFUL_WARNINGS)}): (.*)", re.MULTILINE)


class ToolError(RoceproofError):
    """A tool that builds simulations is missing or does not work."""


class BuildError(RoceproofError):
    """The device does not build. The text ends with the tool's own words."""

    exit_code = Exit.BROKEN_BUILD


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All that goes into an executable whose top module is roceproof_top."""

    sources: tuple[Path, ...]  # SystemVerilog, in compile order
    parameters: dict[str, int]  # of the top module; ClockPs is one of them
    dut: str  # the device's module
    bridge: bool = True  # link the bridge's C
    fst: bool = False  # able to write waves
    coverage: bool = False  # able to write which lines, branches and bits were exercised
    circuit: Circuit = field(default_factory=Circuit)
    words: tuple[str, ...] = field(init=False)  # for Verilator

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "words",
            (
                *VERILATOR_FLAGS,
                *(f"-G{name}={value}" for name, value in self.parameters.items()),
                f"-DROCEPROOF_DUT={self.dut}",
                *_circuit_words(self.circuit),
                *(("--trace-fst", "--trace-structs") if self.fst else ()),
                *(COVERAGE_FLAGS if self.coverage else ()),
            ),
        )

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files whose change makes another executable, as far as the sources name them."""
        headers = included(self.sources, self.circuit.includes)
        bridge = (*BRIDGE_C, *BRIDGE_HEADERS) if self.bridge else ()
        counted = (COVERAGE_CONFIG,) if self.coverage else ()
        return (*self.sources, *headers, *counted, MAIN, *bridge)


def _circuit_words(circuit: Circuit) -> Iterator[str]:
    yield from (f"-I{folder}" for folder in circuit.includes)
    yield from (f"-D{name}={value}" for name, value in circuit.defines.items())
    if circuit.parameters:
        given = "".join(f", .{name}({value})" for name, value in circuit.parameters.items())
        yield f"-DROCEPROOF_DUT_PARAMETERS={given}"


def _pasted(recipe: Recipe) -> dict[str, Sequence[str]]:
    """What stands in sources of ours as the manifest says it, by its keys."""
    circuit = recipe.circuit
    door = circuit.defines.get(BACKDOOR)
    given = circuit.parameters.items()
    return {
        **{f"parameters.{name}": [f".{name}({value})"] for name, value in given},
        "top": [f"{recipe.dut} #(", f"missing module/interface: '{recipe.dut}'"],
        **({"responder.backdoor": [f"u_dut.{door}["]} if door else {}),
    }


def _ask(*command: str) -> str:
    try:
        done = run_to_end(command, timeout=QUESTION_SECONDS)
        done.check_returncode()
    except FileNotFoundError as error:
        raise ToolError(missing_tools(command[:1]) or str(error)) from error
    except (subprocess.SubprocessError, OSError) as error:
        raise ToolError(f"{' '.join(command)} failed: {error}") from error
    return done.stdout.strip()


@cache
def verilator_version() -> str:
    return _ask("verilator", "--version")


@cache
def _svdpi_directory() -> Path:
    return Path(_ask("verilator", "--getenv", "VERILATOR_ROOT")) / "include" / "vltstd"


@cache
def _compiler_cache() -> str:
    return "ccache" if shutil.which("ccache") else ""


def _run(command: Sequence[str | Path], log: Path) -> None:
    with log.open("ab") as out:
        out.write(os.fsencode(" ".join(map(str, command))) + b"\n")
        out.flush()
        try:
            done = run_to_end(command, timeout=BUILD_SECONDS, stdout=out, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired as error:
            raise BuildError(f"{command[0]} took more than {BUILD_SECONDS} s; see {log}") from error
        except FileNotFoundError as error:
            raise ToolError(str(error)) from error
    if done.returncode != 0:
        text = log.read_text(errors="replace")
        if lack := missing_header(text):
            raise ToolError(lack)
        end = f"{command[0]} {_end(done.returncode)}; see {log}"
        raise BuildError("\n".join([end, *build_errors(text)]))


def _end(status: int) -> str:
    return f"ended by {Signals(-status).name}" if status < 0 else f"ended with status {status}"


def _object_name(source: Path) -> str:
    parts = source.relative_to(BRIDGE).with_suffix("").parts
    return f"{'_'.join(('bridge', *parts))}.o"


def _compile_bridge(circuit: Circuit, directory: Path, log: Path) -> None:
    compiler = [word for word in (_compiler_cache(), "cc") if word]
    includes = [f"-isystem{_svdpi_directory()}", f"-I{directory}"]
    header = f'-DROCEPROOF_DPI_HEADER="{MODEL}__Dpi.h"'
    door = [f"-D{BACKDOOR}"] if BACKDOOR in circuit.defines else []
    for source in BRIDGE_C:
        # Only the shim depends on the build; the others' objects come from the cache.
        extra = [*includes, header, *door] if source.stem == "bridge_dpi" else []
        target = directory / _object_name(source)
        _run([*compiler, *C_FLAGS, f"-I{BRIDGE}", *extra, "-c", source, "-o", target], log)


def _judge_warnings(circuit: Circuit, log: Path) -> None:
    """Where a manifest cannot accept any, they are only told."""
    accepted = circuit.accepted_warnings
    lines = meaningful_warnings(log.read_text(errors="replace"), accepted or ())
    if lines and accepted is None:
        notice(f"what is simulated may not be what is built ({'; '.join(lines)}); see {log}")
    elif lines:
        names = sorted({line.partition(",")[0] for line in lines})
        raise BuildError(
            "\n".join(
                [
                    "what is simulated would not be what is built; mend it, or accept it with "
                    f"warnings = {names} in the manifest; see {log}".replace("'", '"'),
                    *lines,
                ]
            )
        )


def _without_ports(recipe: Recipe, text: str) -> str | None:
    """What a device lacks by whose name a log says so; None where it lacks nothing."""
    lacking = lacking_ports(text, where=ROOM / "sv")
    if not lacking:
        return None
    first, more = lacking[:_MOST_PORTS], len(lacking) - _MOST_PORTS
    told = ", ".join(first) + (f" and {more} more" if more > 0 else "")
    return (
        f"top: {recipe.dut} has no port {told}, which docs/dut-contract.md lists for what "
        "the manifest claims"
    )


def files_read(directory: Path) -> set[Path]:
    """What Verilator has read for a build, besides itself."""
    _, _, told = os.fsdecode((directory / f"{MODEL}__ver.d").read_bytes()).partition(" : ")
    names = {Path(name).absolute() for name in shlex.split(told)}
    return {name for name in names if not name.name.startswith("verilator")}


def verilate(recipe: Recipe, directory: Path) -> None:
    """Build the recipe in an empty directory."""
    if lack := missing_tools(TOOLS):
        raise ToolError(lack)
    if lack := unbuildable((directory, MAIN)):
        raise ToolError(lack)
    log = directory / "build.log"
    defines = f"-DVL_USER_STOP -DROCEPROOF_CLOCK_PS={recipe.parameters['ClockPs']}"
    if recipe.fst:
        defines += " -DROCEPROOF_FST"
    if recipe.coverage:
        defines += " -DROCEPROOF_COVERAGE"
    libraries = " ".join([*map(_object_name, BRIDGE_C), "-lpcap"])
    command = [
        *("verilator", "--cc", "--exe", *recipe.words),
        *("--top-module", TOP, "--prefix", MODEL, "--Mdir", directory, "-o", EXECUTABLE),
        *("-CFLAGS", defines),
        *(("-LDFLAGS", libraries) if recipe.bridge else ()),
        *((COVERAGE_CONFIG,) if recipe.coverage else ()),
        *recipe.sources,
        MAIN,
    ]
    try:
        _run(command, log)
    except BuildError as error:
        text = log.read_text(errors="replace")
        found = misfit(text, _pasted(recipe), where=ROOM / "sv") or _without_ports(recipe, text)
        raise BuildError(f"{found}; see {log}") if found else error from None
    if wrong := other_widths(log.read_text(errors="replace"), where=ROOM / "sv"):
        raise BuildError(f"top: {recipe.dut}: {', '.join(wrong)}; see {log}")
    _judge_warnings(recipe.circuit, log)
    if recipe.bridge:
        _compile_bridge(recipe.circuit, directory, log)
    processors = os.cpu_count() or 1
    make = ("make", "-C", directory, "-f", f"{MODEL}.mk", f"-j{processors}")
    if recipe.coverage or recipe.fst:
        options: tuple[str, ...] = LONG_MAKE_FLAGS
    else:
        pieces = () if processors >= MANY_PROCESSORS else (IN_ONE_PIECE,)
        options = (*MAKE_FLAGS, *pieces)
    _run([*make, *options, f"OBJCACHE={_compiler_cache()}"], log)


def meaningful_warnings(log: str, accepted: Collection[str] = ()) -> list[str]:
    """A line for each kind that is not accepted: how many, and where the first is."""
    found = [(kind, place) for kind, place in _WARNING.findall(log) if kind not in accepted]
    counts, first = Counter(kind for kind, _ in found), dict(reversed(found))
    return [f"{kind}, {count} times, first: {first[kind]}" for kind, count in counts.items()]
