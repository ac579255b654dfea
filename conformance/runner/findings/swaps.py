# SPDX-License-Identifier: BSD-2-Clause
"""Whether each of two fields has what the other ought to have."""

from collections.abc import Iterable, Mapping
from typing import Any

_OFTEN = 3
"""In as many cases two fields that have each other's values are swapped, whatever these are."""
_CHANCE = 4
"""A value that is written with as few signs is the same by chance."""


def are_swapped(one: str, two: str, told: Iterable[Mapping[str, Any]]) -> bool:
    """By the values of wrong fields in each case: always, in several; of long values, ever."""
    exchanged = 0
    is_always = True
    for values in told:
        if one not in values or two not in values:
            continue
        there = set(values[one]["got"]) & set(values[two]["want"])
        back = set(values[two]["got"]) & set(values[one]["want"])
        if there and back and any(len(each) > _CHANCE for each in there | back):
            return True
        is_swap = values[one]["got"] == values[two]["want"]
        is_always &= is_swap and values[two]["got"] == values[one]["want"]
        exchanged += bool(there and back)
    return is_always and exchanged >= _OFTEN
