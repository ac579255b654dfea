# SPDX-License-Identifier: BSD-2-Clause
"""The page's colours have the contrast that WCAG 2 asks for, light and dark."""

from __future__ import annotations

import re
from importlib.resources import files


def test_the_text_can_be_read_on_every_ground() -> None:
    style = (files("roceproof.conformance.review") / "page/style/page.css").read_text()
    light, dark = (
        dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6})\b", part))
        for part in re.findall(r":root \{([^}]*)\}", style)
    )
    for palette in (light, dark):
        for ground in ("paper", "panel", "chosen"):
            for ink in ("ink", "faint", "request", "response", "copy", "must", "should", "info"):
                assert contrast(palette[ink], palette[ground]) >= 4.5, (ink, ground)


def contrast(one: str, other: str) -> float:
    """By WCAG 2."""

    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
