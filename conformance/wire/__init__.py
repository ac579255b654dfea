# SPDX-License-Identifier: BSD-2-Clause
"""RoCE packets as bytes: codec, headers, opcodes, ICRC, framing, and edits of frames."""
