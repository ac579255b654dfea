// SPDX-License-Identifier: BSD-2-Clause
//
// What the segmenter needs to know about each QP. One configuration record
// writes one entry; the low bits of the local QPN select it. After reset every
// entry is made unusable, one per cycle, before ready_o rises.

`default_nettype none

module qp_context
  import roceproof_dut_pkg::*;
  import roce_tx_pkg::*;
#(
  parameter int unsigned Qps       = 16,
  parameter int unsigned Ipv6      = 0,
  parameter int unsigned Reads     = 0,
  parameter int unsigned Datagrams = 0,
  parameter int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  output logic                      ready_o,
  input  wire logic                 configure_i,
  input  wire qp_config_t           config_i,
  input  wire logic                 lookup_i,
  input  wire logic [IndexBits-1:0] lookup_index_i,
  output sender_t                   sender_o
);

  if (Qps < 2 || Qps > 2048 || (Qps & (Qps - 1)) != 0) begin : gen_bad_qps
    $error("Qps must be a power of two from 2 to 2048");
  end

  logic [IndexBits:0] cleared_q;
  sender_t            entry;
  logic               is_datagram;

  assign ready_o     = cleared_q[IndexBits];
  assign is_datagram = Datagrams != 0 && config_i.service == ServiceUd;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) cleared_q <= '0;
    else if (!ready_o) cleared_q <= cleared_q + 1'b1;
  end

  always_comb begin
    entry = '0;
    if (ready_o) begin
      entry.usable = config_i.command == QpActivate
          && (config_i.service inside {ServiceRc, ServiceUc} || is_datagram)
          && config_i.path_mtu inside {Mtu256, Mtu512, Mtu1024, Mtu2048, Mtu4096}
          && (Ipv6 != 0 || config_i.remote_gid[127:32] == 96'hffff);
      entry.reliable           = config_i.service == ServiceRc;
      entry.datagram           = is_datagram;
      if (Datagrams != 0) entry.qkey = config_i.qkey;
      entry.path_mtu           = config_i.path_mtu[2:0];
      if (Reads != 0) begin
        entry.read_limit = config_i.max_rd_atomic > 8'(MaxAsked) ? 5'(MaxAsked)
                                                                 : config_i.max_rd_atomic[4:0];
      end
      entry.local_qpn          = config_i.local_qpn;
      entry.path.remote_mac    = config_i.remote_mac;
      entry.path.ipv6          = Ipv6 != 0 && config_i.remote_gid[127:32] != roce_pkg::Ipv4Prefix;
      entry.path.remote_gid    = roce_pkg::kept_gid(config_i.remote_gid, Ipv6);
      entry.path.udp_sport     = config_i.udp_sport;
      entry.path.traffic_class = config_i.traffic_class;
      entry.path.hop_limit     = config_i.hop_limit;
      entry.path.remote_qpn    = config_i.remote_qpn[23:0];
      entry.path.tag           = {config_i.tag_high, config_i.tag_low};
    end
  end

  ram_1r1w #(
    .Width($bits(sender_t)),
    .Words(Qps)
  ) u_entries (
    .clk_i,
    .write_i      (configure_i || !ready_o),
    .write_index_i(ready_o ? config_i.local_qpn[IndexBits-1:0] : cleared_q[IndexBits-1:0]),
    .write_data_i (entry),
    .read_i       (lookup_i),
    .read_index_i (lookup_index_i),
    .read_data_o  (sender_o)
  );

endmodule

`default_nettype wire
