# SPDX-License-Identifier: BSD-2-Clause
"""The ladder in characters: lifelines of the stations, an arrow for each packet.

Where there are more stations than lifelines can be told apart, each packet
names its two stations.
"""

from collections.abc import Iterator

from rich.text import Text

from roceproof.conformance.review.ladder import Ladder, Row

_PREFIX = 19  # frame number and seconds
_LEAST_SPAN = 12
_MOST_LIFELINES = 40
_HEADING = f"{'frame':>6} {'seconds':>11} "
_STYLE = {"must": "bold red", "should": "yellow", "info": "dim"}


def lines(ladder: Ladder, *, width: int) -> Iterator[Text]:
    """The whole ladder, at least as wide as its stations need."""
    crowded = len(ladder.stations) > _MOST_LIFELINES
    count = max(len(ladder.stations), 2)
    span = max((width - _PREFIX - 2) // (count - 1), _LEAST_SPAN)
    yield Text(_HEADING) if crowded else _heading(ladder, span)
    for row in ladder.rows:
        yield _ends(row, ladder) if crowded else _arrow(row, len(ladder.stations), span)
        for mark in row.marks:
            yield Text(
                f"{'':{_PREFIX}}{mark.severity.upper()} {mark.rule}: {mark.text}",
                style=_STYLE.get(mark.severity, ""),
            )


def _heading(ladder: Ladder, span: int) -> Text:
    heading = Text(_HEADING)
    last = len(ladder.stations) - 1
    for place, station in enumerate(ladder.stations):
        heading.append(station if place == last else f"{station:<{span}}", style="bold")
    return heading


def _ends(row: Row, ladder: Ladder) -> Text:
    ends = f"{ladder.stations[row.source]} > {ladder.stations[row.destination]}"
    return Text(_time(row)).append(f"{ends}  {row.caption}", style=_style(row))


def _time(row: Row) -> str:
    return f"{row.number:>6} {row.seconds:>11.6f} "


def _style(row: Row) -> str:
    return "red" if row.bad_icrc else "yellow" if row.copy else ""


def _arrow(row: Row, stations: int, span: int) -> Text:
    line = Text(_time(row))
    left, right = sorted((row.source, row.destination))
    style = _style(row)
    for place in range(stations):
        if place == left and left != right:
            line.append(_shaft(row, (right - left) * span - 1), style=style)
        elif left < place < right:
            continue
        else:
            last = place == stations - 1
            line.append("│" if last else f"│{'':{span - 1}}")
    return line


def _shaft(row: Row, room: int) -> str:
    """From the left lifeline up to, not including, the right one."""
    rightward = row.source < row.destination
    text = f" {row.caption} "
    text = text if len(text) <= room - 4 else text[: room - 6] + ".. "
    body = f"─{text}".ljust(room - 1, "─")
    return f"├{body}▶" if rightward else f"│◀{body[:-1]}─"
