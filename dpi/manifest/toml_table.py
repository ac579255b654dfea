# SPDX-License-Identifier: BSD-2-Clause
"""TOML from a user's hand: whatever is wrong with it is one error that names file, key and mend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from roceproof.common import document
from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable

_SHOWN_CHARACTERS = 80

T = TypeVar("T")


class ManifestError(RoceproofError):
    """A manifest cannot be used. The text names the key and what it should hold."""


def read_toml(path: Path) -> dict[str, Any]:
    """The values of a file."""
    mend = "name the manifest, a dut.toml"
    if path.exists() and not path.is_file():
        raise ManifestError(f"{printable(path)}: not a regular file; {mend}")
    return document.read_toml(path, mend=mend, error=ManifestError)


def shown(value: object) -> str:
    """A value for an error's text, however long it is."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


class Table:
    """A TOML table whose every key must be asked for."""

    def __init__(self, path: Path, name: str, values: Mapping[str, Any]) -> None:
        self._path = path
        self.name = name
        self._left = dict(values)
        self.asked: set[str] = set()

    def error(self, key: str, problem: str) -> ManifestError:
        return ManifestError(f"{self._path}: {self.name}{key}: {problem}")

    def take(self, key: str, kind: type[T], *, default: T | None = None) -> T:
        """The value of a key, of exactly that type."""
        self.asked.add(key)
        value = self._left.pop(key, default)
        if value is None:
            raise self.error(key, f"missing; add a value of type {kind.__name__}")
        if type(value) is not kind:
            raise self.error(key, f"expected {kind.__name__}, got {shown(value)}")
        return value

    def take_tables(self, key: str) -> list[Table]:
        """An array of tables within; none if it is not there."""
        values = self.take_list(key, dict) if key in self else []
        return [Table(self._path, f"{self.name}{key}.", each) for each in values]

    def take_list(self, key: str, kind: type[T]) -> list[T]:
        """A list of different values, with at least one."""
        values = self.take(key, list)
        if not values:
            raise self.error(key, "is empty; name at least one, or delete the line")
        if any(type(value) is not kind for value in values):
            raise self.error(key, f"expected a list of {kind.__name__}, got {shown(values)}")
        for value in values:
            if values.count(value) > 1:
                raise self.error(key, f"{shown(value)} is listed twice; remove one")
        return values

    def take_number(self, key: str, *, least: int, most: int, default: int | None = None) -> int:
        """A whole number within bounds."""
        value = self.take(key, int, default=default)
        if not least <= value <= most:
            raise self.error(key, f"{shown(value)} is out of range; expected {least} to {most}")
        return value

    def __contains__(self, key: str) -> bool:
        self.asked.add(key)
        return key in self._left

    def take_table(self, key: str) -> Table:
        """A table within; an empty one if it is not there."""
        return Table(self._path, f"{self.name}{key}.", self.take(key, dict, default={}))

    def peek(self, key: str) -> object:
        """A value that is asked for later."""
        return self._left[key]

    def left(self) -> Iterator[str]:
        """Those that nobody has asked for yet."""
        yield from tuple(self._left)

    def finish(self) -> None:
        """Nothing may be left over."""
        for key in self._left:
            near = get_close_matches(key, self.asked, n=1)
            mend = f"is {near[0]} meant?" if near else "remove it or correct its spelling"
            raise ManifestError(f"{self._path}: {self.name}{shown(key)[1:-1]}: unknown key; {mend}")
