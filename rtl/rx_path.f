// SPDX-License-Identifier: BSD-2-Clause
// Made by ci/file_lists.py; do not edit. Frames in, responses and answers out, for wrappers.
roceproof_dut_pkg.sv
roce_pkg.sv
icrc_pkg.sv
crc32_matrix_pkg.sv
rx_header_pkg.sv
request_pkg.sv
stream_fifo.sv
crc32_accumulate.sv
crc32_unwind.sv
crc32_word.sv
icrc_mask.sv
icrc_engine.sv
icrc_check.sv
rx_window.sv
rx_parser.sv
rx_response_join.sv
arp_reply.sv
icmp_echo.sv
frame_mux.sv
rx_path.sv
