# SPDX-License-Identifier: BSD-2-Clause
"""What a device is made of: files by name, by pattern, or in lists and projects of other tools.

Of a list the words that every simulator knows are read: files, `+incdir+`, `+define+`, `-I`, `-D`,
`-v`, `-f` (names in it are relative to where the command runs: here, to the first list) and `-F`
(relative to the list itself), and `$NAME` from the environment. What else starts with - or + is an
option of some tool, and refused by its name, since it might change the circuit.
"""

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from roceproof.dpi.manifest.edam import CORE_END, EDAM_ENDS, read_description
from roceproof.dpi.manifest.toml_table import ManifestError, shown

DEEPEST = 16
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")


@dataclass
class FileList:
    """In the order of compilation, each file once."""

    sources: list[Path] = field(default_factory=list)
    includes: list[Path] = field(default_factory=list)
    defines: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, home: Path) -> None:
        """A file, all files that fit a pattern with * or ?, or what a list or description names."""
        if not name.isprintable() or not (home / name).name:
            raise ManifestError(f"{shown(name)} is no file name")
        if name.endswith(".f"):
            path = _file(home, name)
            self._read(path, home=path.parent, depth=1)
        elif name.endswith((*EDAM_ENDS, CORE_END)):
            self._describe(_file(home, name))
        elif any(sign in name for sign in "*?["):
            found = sorted(path for path in _matching(home, name) if path.is_file())
            if not found:
                raise ManifestError(f"{shown(name)} fits no file below {home}; correct the pattern")
            for path in found:
                self._take(path.resolve())
        else:
            self._take(_file(home, name))

    def add_include(self, name: str, home: Path) -> None:
        """A folder for `include."""
        folder = (home / name).resolve()
        if not folder.is_dir():
            raise ManifestError(f"{folder} is no folder; correct the name")
        if folder not in self.includes:
            self.includes.append(folder)

    def _describe(self, path: Path) -> None:
        described = read_description(path)
        for source in described.sources:
            self._take(source)
        for folder in described.includes:
            self.add_include(str(folder), path.parent)
        self.defines |= described.defines

    def _take(self, path: Path) -> None:
        if path not in self.sources:
            self.sources.append(path)

    def _read(self, path: Path, *, home: Path, depth: int) -> None:
        if depth > DEEPEST:
            raise ManifestError(f"{path}: lists within lists, more than {DEEPEST} deep")
        try:
            text = path.read_text(encoding="utf-8")
            words = shlex.split(_COMMENT.sub(" ", text))
        except OSError as error:
            raise ManifestError(f"{path}: {error.strerror}") from error
        except ValueError as error:
            raise ManifestError(f"{path}: no list of files: {error}") from error
        rest = iter(words)
        for word in rest:
            self._word(_expanded(word, path), rest, path=path, home=home, depth=depth)

    def _word(self, word: str, rest: Iterator[str], *, path: Path, home: Path, depth: int) -> None:
        if word in ("-f", "-F", "-v"):
            name = _expanded(next(rest, ""), path)
            inner = _file(home, name, of=path)
            if word == "-v":
                self._take(inner)
            else:
                self._read(inner, home=home if word == "-f" else inner.parent, depth=depth + 1)
        elif word.startswith("+incdir+"):
            for name in word.split("+")[2:]:
                self.add_include(name, home)
        elif word.startswith("-I"):
            self.add_include(word[2:], home)
        elif word.startswith("+define+"):
            for each in word.split("+")[2:]:
                self._define(each)
        elif word.startswith("-D"):
            self._define(word[2:])
        elif word[:1] in ("-", "+"):
            raise ManifestError(
                f"{path}: {shown(word)} is not understood; put it into the manifest"
            )
        else:
            self._take(_file(home, word, of=path))

    def _define(self, text: str) -> None:
        name, _, value = text.partition("=")
        self.defines[name] = value


def _matching(home: Path, pattern: str) -> list[Path]:
    whole = Path(pattern)
    if whole.is_absolute():
        return list(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))))
    return list(home.glob(pattern))


def _file(home: Path, name: str, *, of: Path | None = None) -> Path:
    where = f"{of}: " if of else ""
    try:
        path = (home / name).resolve()
        is_there = bool(name) and path.is_file()
    except (OSError, ValueError) as error:
        raise ManifestError(f"{where}{shown(name)}: {getattr(error, 'strerror', error)}") from error
    if not is_there:
        raise ManifestError(f"{where}{path} does not exist; correct the name")
    return path


def _expanded(word: str, path: Path) -> str:
    def value(found: re.Match[str]) -> str:
        name = next(each for each in found.groups() if each)
        if name not in os.environ:
            raise ManifestError(f"{path}: ${name} is not set in the environment")
        return os.environ[name]

    return _VARIABLE.sub(value, word)
