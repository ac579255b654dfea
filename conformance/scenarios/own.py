# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios of one's own: a TOML file with the words of network.py, a sweep, and bounds."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

from roceproof.common.errors import RoceproofError
from roceproof.conformance.scenarios.network import GBPS, KINDS, SECOND, Flow, Network, Played, Port
from roceproof.conformance.scenarios.scenario import (
    Check,
    Plot,
    Point,
    Row,
    Scenario,
    at_least,
    at_most,
    jain,
    significant,
)

_MOST_BYTES = 1 << 20
_MOST_POINTS = 10_000
_MOST_FLOWS = 100_000
_MOST_OF_FLOWS = {
    "mtu": 9000,
    "priority": 1,
    "depth": 1 << 20,
    "size": 1 << 31,
    "messages": 1 << 40,
}
_TOP = {"title", "until", "since", "port", "flow", "sweep", "bounds"}
COLUMNS = (
    "gbps",
    "least_gbps",
    "jain",
    "messages",
    "lost",
    "dropped",
    "peak",
    "pauses",
    "timeouts",
    "failed",
)
"""What is measured at each point, over all flows and ports, and so what bounds may name."""


class ScenarioFileError(RoceproofError):
    """A file that describes no scenario; the text says which key, and why."""


def own_scenario(path: Path) -> Scenario:
    """The scenario that a file describes; docs/scenarios.md has its keys."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise ScenarioFileError(f"{path}: larger than 1 MiB; describe flows with `count`")
        table = tomllib.loads(text.decode())
    except OSError as error:
        raise ScenarioFileError(f"{path}: {error.strerror}; name a file that is there") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioFileError(f"{path}: {error}; see docs/scenarios.md") from None
    return _File(path, table).scenario()


class _File:
    def __init__(self, path: Path, table: dict[str, Any]) -> None:
        self._path, self._table = path, table
        self._only(table, _TOP, "")
        self._names = [
            self._text(port, "name", f"port {number}")
            for number, port in enumerate(self._tables("port"))
        ]
        self._sweep = self._read_sweep()

    def scenario(self) -> Scenario:
        axis = next(iter(self._sweep), "gbps")
        self._network({}, 1)  # refuses what is wrong before anything is played
        bounds = self._bounds()
        return Scenario(
            id=self._path.stem,
            title=str(self._table.get("title", self._path.stem)),
            published="",
            points=self._points,
            measure=_measured,
            checks=lambda rows: _within_bounds(rows, bounds),
            plot=Plot(axis, "gbps", tuple(self._sweep)[1:], axis, "goodput (Gb/s)", log_x=False),
        )

    def _points(self, quick: bool, seed: int) -> Iterator[Point]:
        for values in product(*self._sweep.values()):
            words = dict(zip(self._sweep, values, strict=True))
            yield Point(words, self._network(words, seed))

    def _network(self, words: Mapping[str, Any], seed: int) -> Network:
        ports: list[Port] = []
        flows: list[Flow] = []
        for name, table in zip(self._names, self._tables("port"), strict=True):
            where = f"port.{name}."
            swept = {k.removeprefix(where): v for k, v in words.items() if k.startswith(where)}
            ports.append(self._port({**table, **swept}, name))
        for number, table in enumerate(self._tables("flow")):
            swept = {k.removeprefix("flow."): v for k, v in words.items() if k.startswith("flow.")}
            flows += self._flows({**table, **swept}, f"flow {number}")
            if len(flows) > _MOST_FLOWS:
                self._refuse("flow", f"more than {_MOST_FLOWS} in all; lower `count`")
        until = self._number(self._table, "until", "", least=1, most=3600 * SECOND)
        since = self._number({"since": 0, **self._table}, "since", "", least=0, most=until - 1)
        return Network(ports=tuple(ports), flows=tuple(flows), until=until, since=since, seed=seed)

    def _port(self, table: dict[str, Any], name: str) -> Port:
        known = {field.name for field in fields(Port)}
        self._only(table, known | {"name"}, f"port {name}: ")
        if "rate" not in table:
            self._refuse(f"port {name}", "it has no `rate`, in bits a second")
        numbers = {
            key: self._number(table, key, f"port {name}: ", least=key == "rate", most=1 << 53)
            for key in table
            if key != "name"
        }
        return Port(**numbers)

    def _flows(self, table: dict[str, Any], where: str) -> Iterable[Flow]:
        known = {field.name for field in fields(Flow)}
        self._only(table, known | {"count"}, f"{where}: ")
        for key in ("path", "mtu", "size"):
            if key not in table:
                self._refuse(where, f"it has no `{key}`")
        count = self._number(
            {"count": 1, **table}, "count", f"{where}: ", least=1, most=_MOST_FLOWS
        )
        words: dict[str, Any] = {}
        for key, value in table.items():
            if key == "kind":
                if value not in KINDS:
                    self._refuse(where, f"kind is one of {', '.join(KINDS)}, not {value!r}")
                words[key] = value
            elif key == "path":
                words[key] = self._path_of(value, where)
            elif key in ("immediate", "pace_messages"):
                if not isinstance(value, bool):
                    self._refuse(where, f"{key} is true or false, not {value!r}")
                words[key] = value
            elif key != "count":
                most = _MOST_OF_FLOWS.get(key, 1 << 53)
                least = key in ("mtu", "depth", "messages")
                words[key] = self._number(table, key, f"{where}: ", least=least, most=most)
        return [Flow(**words)] * count

    def _path_of(self, value: Any, where: str) -> tuple[int, ...]:
        if not isinstance(value, list) or not 0 < len(value) <= 8:
            self._refuse(where, "path is a list of one to eight names of ports")
        if lost := [name for name in value if name not in self._names]:
            self._refuse(where, f"path names {lost[0]!r}, and no port has that name")
        return tuple(self._names.index(name) for name in value)

    def _read_sweep(self) -> dict[str, list[Any]]:
        sweep = self._table.get("sweep", {})
        points = 1
        for key, values in sweep.items() if isinstance(sweep, dict) else ():
            if not isinstance(values, list) or not values:
                self._refuse(f"sweep.{key}", "it is no list of values")
            points *= len(values)
            room, _, rest = key.partition(".")
            if room not in ("flow", "port") or not rest:
                self._refuse(f"sweep.{key}", "it is neither flow.KEY nor port.NAME.KEY")
            if room == "port" and rest.partition(".")[0] not in self._names:
                self._refuse(f"sweep.{key}", "no port has that name")
        if not isinstance(sweep, dict) or points > _MOST_POINTS:
            self._refuse("sweep", f"it is a table of lists, of at most {_MOST_POINTS} points")
        return dict(sweep)

    def _bounds(self) -> dict[str, dict[str, float]]:
        bounds: Any = self._table.get("bounds", {})
        if not isinstance(bounds, dict):
            self._refuse("bounds", "it is no table")
        for key, bound in bounds.items():
            if key not in COLUMNS:
                self._refuse(f"bounds.{key}", f"what is measured is {', '.join(COLUMNS)}")
            fits = isinstance(bound, dict) and bound and set(bound) <= {"least", "most"}
            if not fits or not all(type(value) in (int, float) for value in bound.values()):
                self._refuse(f"bounds.{key}", "it is a table of `least` and `most`, both numbers")
        return dict(bounds)

    def _tables(self, key: str) -> list[dict[str, Any]]:
        found = self._table.get(key)
        if not isinstance(found, list) or not found or not all(isinstance(f, dict) for f in found):
            self._refuse(key, f"there is no [[{key}]]")
        return found

    def _text(self, table: dict[str, Any], key: str, where: str) -> str:
        if not isinstance(table.get(key), str):
            self._refuse(where, f"it has no `{key}`")
        return str(table[key])

    def _number(
        self, table: Mapping[str, Any], key: str, where: str, *, least: int, most: int
    ) -> int:
        value = table.get(key)
        if type(value) is not int or not least <= value <= most:
            self._refuse(
                f"{where}{key}", f"it is a whole number of {least:d} to {most}, not {value!r}"
            )
        assert isinstance(value, int)
        return value

    def _only(self, table: dict[str, Any], known: set[str], where: str) -> None:
        if unknown := set(table) - known:
            key = sorted(unknown)[0]
            self._refuse(
                f"{where}{key}", f"there is no such key; there are {', '.join(sorted(known))}"
            )

    def _refuse(self, what: str, reason: str) -> NoReturn:
        raise ScenarioFileError(f"{self._path}: {what}: {reason}")


def _measured(point: Point, played: Played) -> Row:
    flows, told = point.network.flows, played.flows
    rates = [played.rate_since(number, point.network) for number in range(len(flows))]
    return {
        "gbps": significant(sum(rates) / GBPS),
        "least_gbps": significant(min(rates) / GBPS),
        "jain": significant(jain(rates)) if any(rates) else 0.0,
        "messages": sum(each["done"] for each in told),
        "lost": sum(each["by_immediates"] for each in told),
        "dropped": sum(port["dropped"] + port["lost"] for port in played.ports),
        "peak": max(port["peak"] for port in played.ports),
        "pauses": sum(port["pauses_sent"] for port in played.ports),
        "timeouts": sum(each["timeouts"] for each in told),
        "failed": sum(each["failed"] for each in told),
    }


def _within_bounds(rows: Sequence[Row], bounds: dict[str, dict[str, float]]) -> Iterator[Check]:
    for key, bound in bounds.items():
        values = [row[key] for row in rows]
        if "least" in bound:
            yield at_least(key, bound["least"], min(values))
        if "most" in bound:
            yield at_most(key, bound["most"], max(values))
