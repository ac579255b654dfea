// SPDX-License-Identifier: BSD-2-Clause
// Made by ci/file_lists.py; do not edit. The DPI bridge around a device; its C is in dpi/src.
-F ../rtl/endpoint.f
sv/roceproof_bridge_pkg.sv
sv/roceproof_gate.sv
sv/roceproof_chunk_source.sv
sv/roceproof_record_source.sv
sv/roceproof_frame_sink.sv
sv/roceproof_record_sink.sv
sv/roceproof_memory.sv
sv/roceproof_memory_reader.sv
sv/roceproof_xgmii_pkg.sv
sv/roceproof_xgmii_source.sv
sv/roceproof_xgmii_sink.sv
sv/roceproof_xgmii.sv
sv/roceproof_stream_watch.sv
sv/roceproof_offer_check.sv
sv/roceproof_frame_streams.sv
sv/roceproof_requester_streams.sv
sv/roceproof_responder_streams.sv
sv/roceproof_port.sv
sv/roceproof_top.sv
