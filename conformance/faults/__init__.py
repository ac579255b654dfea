# SPDX-License-Identifier: BSD-2-Clause
"""Ground truth for the diagnosis: healthy conversations, and every known way of corrupting one.

`Conversation` makes strictly conformant traffic. `icrc_catalogue` and
`psn_catalogue` list the misimplementations, S of the ICRC and P of the PSN; each row turns
healthy traffic into what a transmitter or responder with that fault would put
on the wire.
"""
