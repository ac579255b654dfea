// SPDX-License-Identifier: BSD-2-Clause
//
// What each queue pair was told about receiving, at the place that the low
// bits of its number select. The entry looked up is there one cycle later. A
// configuration follows a lookup of its place, and says what else it brings:
// a beginning from its PSN, an end of all receives, the error state. After
// reset every entry is made unknown, one per cycle, before ready_o rises.

`default_nettype none

module receiver_table
  import roceproof_dut_pkg::*;
  import responder_pkg::*;
#(
  parameter int unsigned Qps             = 16,
  parameter bit          ServesDatagrams = 1'b0,
  parameter bit          ServesIpv6      = 1'b0,
  localparam int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  output      logic                 ready_o,

  input  wire logic [IndexBits-1:0] index_i,
  input  wire logic                 lookup_i,
  output      receiver_t            receiver_o,

  input  wire logic                 configure_i,
  input  wire qp_config_t           config_i,
  output      receiver_t            told_o,      // by the configuration
  output      logic                 begins_o,
  output      progress_t            begun_o,
  output      logic                 clears_o,
  output      logic                 fails_o
);

  if (Qps < 2 || Qps > 2048 || (Qps & (Qps - 1)) != 0) begin : gen_bad_qps
    $error("Qps must be a power of two from 2 to 2048");
  end

  logic [IndexBits:0] cleared_q;
  receiver_t          entry;
  logic               is_known, is_datagram, is_served, writes;

  assign ready_o = cleared_q[IndexBits];
  assign told_o  = entry;

  // Commands for a QP that is not the one in its place, Reset and Error, do
  // nothing; of a kind that this responder does not serve nothing is received.
  assign is_known    = receiver_o.known && receiver_o.local_qpn == config_i.local_qpn[23:0];
  assign is_datagram = ServesDatagrams && config_i.service == ServiceUd;
  assign is_served   = config_i.path_mtu inside {Mtu256, Mtu512, Mtu1024, Mtu2048, Mtu4096}
      && (is_datagram || (config_i.service inside {ServiceRc, ServiceUc}
                          && (ServesIpv6 || config_i.remote_gid[127:32] == 96'hffff)));

  always_comb begin
    writes   = 1'b0;
    begins_o = 1'b0;
    clears_o = 1'b0;
    fails_o  = 1'b0;
    if (configure_i) begin
      unique case (config_i.command)
        QpReset: begin
          writes   = is_known;
          clears_o = is_known;
        end
        QpActivate, QpInit: begin
          writes   = 1'b1;
          begins_o = 1'b1;
          clears_o = 1'b1;
        end
        QpRtr: begin
          writes   = 1'b1;
          begins_o = 1'b1;
        end
        QpError: begin
          begins_o = is_known;
          fails_o  = is_known;
        end
        default: ;  // Rts is for the sending side
      endcase
    end
  end

  always_comb begin
    entry = '0;
    if (ready_o) begin
      entry.known              = config_i.command != QpReset;
      entry.receiving          = config_i.command inside {QpActivate, QpRtr} && is_served;
      entry.reliable           = config_i.service == ServiceRc;
      entry.datagram           = is_datagram;
      entry.qkey               = ServesDatagrams ? config_i.qkey : '0;
      entry.path_mtu           = config_i.path_mtu[2:0];
      entry.access             = config_i.access;
      entry.pd                 = config_i.pd;
      entry.local_qpn          = config_i.local_qpn[23:0];
      entry.rnr_timer          = config_i.min_rnr_timer[4:0];
      entry.read_limit         = config_i.max_dest_rd_atomic > 8'(MaxReads)
          ? 5'(MaxReads) : config_i.max_dest_rd_atomic[4:0];
      entry.path.remote_mac    = config_i.remote_mac;
      entry.path.ipv6          = ServesIpv6 && config_i.remote_gid[127:32] != roce_pkg::Ipv4Prefix;
      entry.path.remote_gid    = roce_pkg::kept_gid(config_i.remote_gid, 32'(ServesIpv6));
      entry.path.udp_sport     = config_i.udp_sport;
      entry.path.traffic_class = config_i.traffic_class;
      entry.path.hop_limit     = config_i.hop_limit;
      entry.path.remote_qpn    = config_i.remote_qpn[23:0];
      entry.path.tag           = {config_i.tag_high, config_i.tag_low};
    end

    begun_o              = '0;
    begun_o.expected_psn = config_i.rq_psn[23:0];
    begun_o.failed       = config_i.command == QpError;
    begun_o.msn          = {config_i.completed, 8'd0};
  end

  ram_1r1w #(
    .Width($bits(receiver_t)),
    .Words(Qps)
  ) u_entries (
    .clk_i,
    .write_i      (writes || !ready_o),
    .write_index_i(ready_o ? index_i : cleared_q[IndexBits-1:0]),
    .write_data_i (entry),
    .read_i       (lookup_i),
    .read_index_i (index_i),
    .read_data_o  (receiver_o)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) cleared_q <= '0;
    else if (!ready_o) cleared_q <= cleared_q + 1'b1;
  end

endmodule

`default_nettype wire
