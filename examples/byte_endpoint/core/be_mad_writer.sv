// SPDX-License-Identifier: BSD-2-Clause
//
// The bytes of a message of connection management, and of what the RDMA IP CM adds to a REQ.

`default_nettype none

module be_mad_writer
  import be_pkg::*;
#(
  parameter logic [63:0] ServiceId = 64'h0000_0000_0106_4791,
  parameter logic [4:0]  ResponseCode = 5'd9  // how long the other end waits for us, and we for it
) (
  input  wire logic [31:0] ip_i,
  input  wire said_t       said_i,
  input  wire queue_pair_t qp_i,
  input  wire logic [7:0]  index_i,
  output logic [7:0]       byte_o
);

  localparam int Bytes = 200;
  localparam logic [7:0]  Depth = 8'd0;             // of READs, at either end
  localparam logic [15:0] NoLid = 16'hFFFF, Pkey = 16'hFFFF, SourcePort = 16'h8000;
  localparam logic [95:0] MappedIpv4 = 96'hFFFF;

  logic [8*24-1:0]  head;
  logic [8*176-1:0] body;

  always_comb begin
    head = {MadStart, 32'd0, said_i.transaction, said_i.attribute, 48'd0};
    body = {said_i.local_id, said_i.remote_id, 1344'd0};
    unique case (said_i.attribute)
      Req: begin
        body = {
          said_i.local_id, 32'd0, ServiceId, 128'd0, qp_i.qpn, Depth, 24'd0, Depth,
          24'd0, ResponseCode, 3'd0, qp_i.rq_psn, ResponseCode, qp_i.retries, Pkey,
          1'b0, qp_i.mtu, 1'b0, qp_i.rnr_retries, 8'hF0, NoLid, NoLid, MappedIpv4, ip_i, MappedIpv4, qp_i.ip,
          32'd0, qp_i.tos, qp_i.ttl, 8'd0, qp_i.ack_timeout, 3'd0, 352'd0,
          8'd0, 8'h40, SourcePort, 96'd0, ip_i, 96'd0, qp_i.ip
        };
      end
      Rep: body[1343:1184] = {32'd0, qp_i.qpn, 40'd0, qp_i.rq_psn, 32'd0, qp_i.rnr_retries, 5'd0};
      Rej: body[1343:1312] = {16'd0, said_i.reason};
      Dreq: body[1343:1320] = qp_i.remote_qpn;
      default: ;
    endcase
    byte_o = 8'd0;
    if (32'(index_i) < 24) byte_o = head[8*(23-32'(index_i))+:8];
    else if (32'(index_i) < Bytes) byte_o = body[8*(Bytes-1-32'(index_i))+:8];
  end

endmodule

`default_nettype wire
