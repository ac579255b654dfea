# SPDX-License-Identifier: BSD-2-Clause
"""Ground truth for the diagnosis: healthy conversations, and every known way of corrupting one.

`icrc` holds the parts of an ICRC engine and `psn` the PSN registers, each with what can
go wrong in it; the calibration draws its devices from the same. `Conversation` makes
strictly conformant traffic, and `icrc.catalogue` and `psn_catalogue` turn it into what a
device with a fault (S of the ICRC, P of the PSN) would put on the wire.
"""
