# SPDX-License-Identifier: BSD-2-Clause
"""What the fields of the contract's records have been in the life of one device."""

from collections.abc import Iterator

from roceproof.dpi.contract.fields import Field, contract_fields


def bins_of(field: Field) -> list[str]:
    """What of a field is to be seen: each of its bits as 0 and 1, and the ends of its range."""
    if field.why:
        return []
    bits = [f"{field.name}.{bit}/{value}" for bit in field.bits for value in (0, 1)]
    return [*bits, *(f"{field.name}/{end}" for end in field.ends)]


class RecordsSeen:
    """Of each record the bits that were 0, those that were 1, and the ends that were met."""

    def __init__(self) -> None:
        self._bits: dict[str, list[int]] = {}
        self._ends: dict[str, set[str]] = {}

    def see(self, record: str, data: bytes) -> None:
        """One has moved, or is about to."""
        value = int.from_bytes(data)
        bits = self._bits.setdefault(record, [0, 0])
        bits[0] |= ~value
        bits[1] |= value
        ends = self._ends.setdefault(record, set())
        for field in contract_fields()[record].values():
            found = field.of(value)
            ends.update(f"{field.name}/{name}" for name, end in field.ends.items() if found == end)

    def bins(self) -> Iterator[tuple[str, list[str]]]:
        """By record those that were hit."""
        for record, seen in self._bits.items():
            hit = [*self._ends[record]]
            for field in contract_fields()[record].values():
                bits = ((bit, value) for bit in field.bits for value in (0, 1))
                hit += [
                    f"{field.name}.{bit}/{value}"
                    for bit, value in bits
                    if seen[value] >> field.at + bit & 1
                ]
            yield record, hit
