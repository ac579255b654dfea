# SPDX-License-Identifier: BSD-2-Clause
"""Where memory lies and what names it: the ends of the number line, carries, any bits.

A device sees addresses and keys of every kind, whatever a case is about. What is drawn keeps what
cases count on: no two regions lie near each other, no key becomes another when a bit or two change.
"""

from collections.abc import Iterator
from itertools import cycle
from random import Random

from roceproof.dpi.contract.fields import Field, contract_field

ADDRESSES = 1 << 64
_BOUNDARY = 1 << 32
_MIDDLE = 1 << 6
_CLEARANCE = 1 << 16  # bytes on both sides that are nobody's
_WIDE_PLACE = 16
_APART = 3  # bits
_KINDS = {"carry": 4, "last": 3, "low": 2, "first": 0.5, "any": 4}


class NumberLine:
    """An address space in which ranges are handed out."""

    def __init__(self, random: Random, field: Field) -> None:
        self._random = random
        self._field = field
        self._taken: list[tuple[int, int]] = []

    def take(self, size: int, *, grain: int = 1, but: int | None = None) -> int:
        """Where so many bytes begin: at a multiple of `grain`, not at `but`, near nothing taken."""
        while True:
            start = self._drawn(size, grain)
            is_free = start != but and start + size <= ADDRESSES
            if is_free and not any(self._near(start, size, *other) for other in self._taken):
                self._taken.append((start, size))
                return start

    def _drawn(self, size: int, grain: int) -> int:
        draw = self._random
        whole = -(-size // grain) * grain
        match draw.choices(list(_KINDS), list(_KINDS.values()))[0]:
            case "carry":
                boundary = draw.choice([_BOUNDARY, 1 << draw.randrange(33, 64)])
                return max(
                    0, boundary - (size // 2 // _MIDDLE * _MIDDLE if grain > 1 else size // 2)
                )
            case "last":
                return ADDRESSES - whole
            case "low":
                return max(0, _BOUNDARY - whole)
            case "first":
                return 0
        return self._field.draw(draw) // grain * grain

    @staticmethod
    def _near(start: int, size: int, other: int, its_size: int) -> bool:
        """On a circle, since what lies beyond the last address may be tried at the first."""
        behind, before = (start - other) % ADDRESSES, (other - start) % ADDRESSES
        return behind < its_size + _CLEARANCE or before < size + _CLEARANCE


class Keys:
    """Keys of a device that holds so many regions: the low bits of both of a region's are alike."""

    def __init__(self, random: Random, regions: int) -> None:
        is_power = regions & (regions - 1) == 0
        self._random = random
        self._regions = regions
        self._place_bits = regions.bit_length() - 1 if is_power else _WIDE_PLACE
        self._free = list(range(regions))
        self._used: list[int] = []

    @property
    def has_room(self) -> bool:
        """Whether there is a place for another region."""
        return bool(self._free)

    def take(self) -> tuple[int, int, int]:
        """A place, the first, the last or that of a region which is gone as often as any; its keys.

        The first of them is for peers.
        """
        at = self._random.choice([0, -1, self._random.randrange(len(self._free))])
        place = self._free.pop(at)
        return place, self._key("rkey", place), self._key("lkey", place)

    def power_on(self) -> None:
        """Every place is free; no key comes again."""
        self._free = list(range(self._regions))

    def give_back(self, place: int) -> None:
        """Nothing is there any more."""
        self._free.append(place)

    def _key(self, name: str, place: int) -> int:
        field, low = contract_field("memory_region_t", name), (1 << self._place_bits) - 1
        while True:
            key = field.draw(self._random) & ~low | place
            if 0 < key < field.last and all(self._is_apart(key, used) for used in self._used):
                self._used.append(key)
                return key

    def _is_apart(self, key: int, other: int) -> bool:
        upper = (key ^ other) >> self._place_bits
        return upper.bit_count() >= _APART and abs(key - other) > 1


def beside(random: Random, domain: int) -> list[int]:
    """Protection domains that differ from this one in two bits, which are others for each."""
    bits = contract_field("memory_region_t", "pd").bits
    turned = random.sample(bits, len(bits))
    return [
        domain ^ 1 << one ^ 1 << two for one, two in zip(turned[::2], turned[1::2], strict=True)
    ]


def other_domains(random: Random, domain: int) -> Iterator[int]:
    """Protection domains that are nearly this one, each in turn."""
    bits = contract_field("memory_region_t", "pd").bits
    return cycle(domain ^ 1 << bit for bit in random.sample(bits, len(bits)))
