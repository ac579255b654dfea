# SPDX-License-Identifier: BSD-2-Clause
"""What a diagnosis says, for people and for machines."""

from dataclasses import asdict, dataclass, field
from typing import Any

UNDECIDED = "undecided"
CORRUPT = "corrupt"
LOST = "lost"
COPIES = "copies"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One explanation of one device's frames."""

    id: str
    """A signature, several joined by "+", "corrupt" (not the sender's fault) or "undecided"."""
    equivalent: tuple[str, ...]
    """What predicts every frame looked at just as well."""
    frames: tuple[int, ...]
    """The wrong frames that it explains; with "undecided" those that nothing explains."""
    explained: int
    of: int
    """The wrong frames of the device."""
    text: str
    advice: str
    as_sent: frozenset[int] = field(default=frozenset(), compare=False)
    """The frames that left like that, for an ICRC that this explains was taken over them."""

    def as_json(self) -> dict[str, Any]:
        """The fields as `roceproof explain --json` prints them."""
        fields = asdict(self) | {"equivalent": [*self.equivalent], "frames": [*self.frames]}
        del fields["as_sent"]
        return fields
