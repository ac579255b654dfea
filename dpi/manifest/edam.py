# SPDX-License-Identifier: BSD-2-Clause
"""What a device is made of as others describe it: EDAM, edalize's format, and FuseSoC's cores.

FuseSoC itself sets a core up, with all that it depends on, and leaves an EDAM file; that is read.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from roceproof.common.children import run_to_end
from roceproof.common.document import content
from roceproof.common.lock import locked
from roceproof.common.paths import BUILD
from roceproof.common.printable import printable
from roceproof.common.shape import Word, flaw
from roceproof.dpi.manifest.toml_table import ManifestError, shown

EDAM_ENDS = (".eda.yml", ".eda.yaml", ".eda.json")
CORE_END = ".core"
SET_UP_SECONDS = 300
_MOST_SIGNS = 300
_DEEPEST = 50
_HDL = ("verilogSource", "systemVerilogSource", "vhdlSource")
_FILE = {
    "name": Word,
    "file_type?": Word,
    "logical_name?": Word,
    "include_path?": (Word, type(None)),
    "is_include_file?": (bool, type(None)),
}
_PARAMETER = {"paramtype?": Word, "default?": (Word, int, bool, float, type(None))}
_SHAPE = {"files?": ([_FILE], type(None)), "parameters?": ({str: _PARAMETER}, type(None))}
_BESIDE_US = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
_INSTALL = 'pip install "roceproof[fusesoc]"'


@dataclass(frozen=True, kw_only=True)
class Described:
    """Sources in the order of compilation, folders of include files, and defines."""

    sources: tuple[Path, ...]
    includes: tuple[Path, ...]
    defines: dict[str, str]


def read_description(path: Path) -> Described:
    """Of an EDAM file, or of a FuseSoC core, whose target `default` is taken."""
    state = path.stat().st_mtime_ns
    if path.name.endswith(CORE_END):
        return _described(_set_up(path, state))
    return _described(path)


def _described(path: Path) -> Described:
    edam = _yaml(path)
    if found := flaw(edam, _SHAPE):
        raise ManifestError(f"{printable(path)}: no EDAM file: {found}")
    files = edam.get("files") or []
    hdl = [each for each in files if each.get("file_type", "").startswith(_HDL)]
    for each in hdl:
        if each.get("logical_name", "work") != "work":
            raise ManifestError(
                f"{path}: {shown(each['name'])} is of VHDL library {shown(each['logical_name'])}; "
                "only work is understood"
            )
    headers = [each for each in hdl if each.get("is_include_file")]
    return Described(
        sources=tuple(_place(path, each["name"]) for each in hdl if each not in headers),
        includes=tuple(
            dict.fromkeys(
                _place(path, each.get("include_path") or str(Path(each["name"]).parent))
                for each in headers
            )
        ),
        defines=dict(_defines(edam.get("parameters") or {})),
    )


def _place(path: Path, name: str) -> Path:
    found = (path.parent / name).resolve()
    if not found.exists():
        raise ManifestError(f"{path}: {found} does not exist; set the project up again")
    return found


def _defines(parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, row in parameters.items():
        value = row.get("default")
        if row.get("paramtype") == "vlogdefine" and value not in (None, False):
            yield name, "" if value is True else str(value)


def _yaml(path: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        raise ManifestError(f"{path}: PyYAML is not installed: {_INSTALL}") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Refuses what is nested deeply, which costs PyYAML a square of its depth."""

        depth = 0

        def compose_node(self, *place: Any) -> Any:
            if self.depth == _DEEPEST:
                raise yaml.YAMLError(f"nested more than {_DEEPEST} deep")
            self.depth += 1
            node = super().compose_node(*place)
            self.depth -= 1
            return node

    try:
        document = yaml.load(content(path).decode().removeprefix("CAPI=2:"), Loader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        words = printable(" ".join(str(error).split()))
        raise ManifestError(f"{printable(path)}: {words[:_MOST_SIGNS]}") from error
    if not isinstance(document, dict):
        raise ManifestError(f"{path}: no table of keys; name an EDAM file or a core")
    return document


@cache
def _set_up(core: Path, _state: int) -> Path:
    """The EDAM file that FuseSoC writes for a core; other cores are sought below its folder."""
    name = str(_yaml(core).get("name", ""))
    fusesoc = shutil.which("fusesoc", path=_BESIDE_US)
    if fusesoc is None:
        raise ManifestError(f"{core}: fusesoc is not installed: {_INSTALL}")
    digest = hashlib.sha256(str(core).encode()).hexdigest()[:16]
    work = BUILD / "fusesoc" / digest
    command = ["--cores-root", str(core.parent), "run", "--setup", "--no-export"]
    command += ["--target=default", "--tool=verilator", f"--work-root={work}", name]
    with locked(work.with_name(f".{digest}.lock"), f"sets {name} up"):
        try:
            done = run_to_end([fusesoc, *command], timeout=SET_UP_SECONDS, cwd=core.parent)
        except (OSError, subprocess.SubprocessError) as error:
            raise ManifestError(f"{core}: fusesoc: {error}") from error
    found = sorted(work.glob("*.eda.yml"))
    if done.returncode or len(found) != 1:
        _, is_told, words = done.stderr.partition("ERROR: ")
        told = " ".join(words.split()) if is_told else f"ended with status {done.returncode}"
        raise ManifestError(f"{core}: fusesoc: {told[:_MOST_SIGNS]}")
    return found[0]
