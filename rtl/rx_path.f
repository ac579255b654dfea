// SPDX-License-Identifier: BSD-2-Clause
// Made by ci/file_lists.py; do not edit. Frames in, responses and answers out, for wrappers.
roceproof_dut_pkg.sv
common/roce_pkg.sv
icrc/icrc_pkg.sv
icrc/crc32_matrix_pkg.sv
rx/rx_header_pkg.sv
rx/request_pkg.sv
common/stream_fifo.sv
icrc/crc32_accumulate.sv
icrc/crc32_unwind.sv
icrc/crc32_word.sv
icrc/icrc_mask.sv
icrc/icrc_engine.sv
icrc/icrc_check.sv
rx/rx_window.sv
rx/ipv6_parser.sv
rx/rx_parser.sv
rx/rx_response_join.sv
rx/arp_reply.sv
rx/neighbour_reply.sv
rx/icmp_echo.sv
common/frame_mux.sv
rx/rx_path.sv
