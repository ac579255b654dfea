# SPDX-License-Identifier: BSD-2-Clause
"""Foreign text for terminals and pages: what would steer them, or break a line, is spelled out.

A file may be called anything, and a terminal obeys an ESC wherever it comes from.
"""

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_SPECIAL = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_DIRECTIONS = (
    0x061C,
    0x200E,
    0x200F,
    0x2028,
    0x2029,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
_SURROGATES = range(0xD800, 0xE000)  # no output takes them
_UNDECODED = range(0xDC80, 0xDD00)  # bytes of a file name that are no UTF-8
_SPELLED = {
    **{code: f"\\x{code:02x}" for code in _CONTROLS},
    **{ord(sign): text for sign, text in _SPECIAL.items()},
    **{code: f"\\u{code:04x}" for code in (*_DIRECTIONS, *_SURROGATES)},
    **{code: f"\\x{code - 0xDC00:02x}" for code in _UNDECODED},
}
_SPELLED_LINES = {code: text for code, text in _SPELLED.items() if chr(code) not in "\n\t"}


def printable(text: object) -> str:
    """The text on one line, without anything that acts on a terminal."""
    return str(text).translate(_SPELLED)


def printable_lines(text: object) -> str:
    """The same of a text that may have several lines and tabs."""
    return str(text).translate(_SPELLED_LINES)
