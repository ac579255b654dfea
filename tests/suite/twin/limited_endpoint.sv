// SPDX-License-Identifier: BSD-2-Clause
//
// The reference endpoint, made less than it is: what it is asked beyond its
// parameters ends the simulation, so that a bench which goes beyond the limits
// of its manifest is found. It may be slow, and ask for addresses by itself.

`default_nettype none

module limited_endpoint
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth      = 64,
  parameter int unsigned ClockPs        = 6400,
  parameter int unsigned LengthMultiple = 1,
  parameter int unsigned Outstanding    = 0,      // messages of one queue pair; 0 is any number
  parameter bit          Shared         = 1'b0,   // those of all queue pairs together
  parameter bit          FixedHeaders   = 1'b0,   // TOS 0, TTL 64, QPN 17
  parameter bit          OneMtu         = 1'b0,   // 1024
  parameter bit          OneQueuePair   = 1'b0,
  parameter bit          OnlyRc         = 1'b0,
  parameter bit          OnlyWrite      = 1'b0,
  parameter int unsigned Slow           = 1,      // cycles for each beat that leaves
  parameter bit          Resolves       = 1'b0,
  parameter int unsigned ConfigCycles   = 0,      // before a configuration is looked at
  parameter bit          NeverFlushes   = 1'b0,
  parameter bit          OneKey         = 1'b0    // of each queue pair at a time
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [47:0]            port_mac_i,
  input  wire logic [127:0]           port_gid_i,
  input  wire logic                   qpc_valid_i,
  output logic                        qpc_ready_o,
  input  wire qp_config_t             qpc_i,
  input  wire logic                   wr_valid_i,
  output logic                        wr_ready_o,
  input  wire work_request_t          wr_i,
  input  wire logic [DataWidth-1:0]   pl_tdata_i,
  input  wire logic [DataWidth/8-1:0] pl_tkeep_i,
  input  wire logic                   pl_tvalid_i,
  input  wire logic                   pl_tlast_i,
  output logic                        pl_tready_o,
  output logic                        cpl_valid_o,
  input  wire logic                   cpl_ready_i,
  output completion_t                 cpl_o,
  output logic [DataWidth-1:0]        tx_tdata_o,
  output logic [DataWidth/8-1:0]      tx_tkeep_o,
  output logic                        tx_tvalid_o,
  output logic                        tx_tlast_o,
  output logic                        tx_tuser_o,
  input  wire logic                   tx_tready_i,
  input  wire logic [DataWidth-1:0]   rx_tdata_i,
  input  wire logic [DataWidth/8-1:0] rx_tkeep_i,
  input  wire logic                   rx_tvalid_i,
  input  wire logic                   rx_tlast_i,
  input  wire logic                   rx_tuser_i,
  output logic                        rx_tready_o
);

  if (DataWidth != 64) begin : gen_unsupported
    $error("this twin is 64 bits wide");
  end

  typedef enum logic [1:0] { Look, Ask, Await, Pass } state_e;

  localparam logic [2:0] LastBeat = 3'd7;  // of the 60 bytes of a question

  state_e                 state_q;
  logic [2:0]             beat_q;
  logic [31:0]            outstanding_q[16];
  logic [31:0]            rest_q;           // cycles until a beat may leave
  logic                   in_frame_q;       // of the endpoint, begun and not ended
  logic [4:0]             heard_q;          // beats of the frame that comes in
  logic                   is_reply_q;
  logic                   holds_work, work_waits_q, inner_wr_valid, inner_wr_ready;
  logic                   inner_qpc_ready, inner_valid, inner_last, inner_user, inner_ready;
  logic [DataWidth-1:0]   inner_data;
  logic [DataWidth/8-1:0] inner_keep;
  logic                   asks_q, may_leave, at_boundary;
  logic                   begins, ends;     // a message
  logic                   activates, has_one_q;
  logic                   inner_cpl_valid, is_flush;
  logic [31:0]            config_q;         // cycles until a configuration is looked at
  logic [31:0]            key_q[16];
  logic [15:0]            has_key_q;
  logic [31:0]            one_qpn_q;
  logic [479:0]           question;

  assign question = {
    48'hFFFFFFFFFFFF, port_mac_i, 16'h0806, 64'h0001_0800_0604_0001,
    port_mac_i, port_gid_i[31:0], 48'h0, qpc_i.remote_gid[31:0], 144'h0
  };

  function automatic logic [63:0] lanes(logic [511:0] frame, logic [2:0] beat);
    logic [63:0] first = frame[511 - 64 * beat -: 64];
    for (int lane = 0; lane < 8; lane++) lanes[8 * lane +: 8] = first[63 - 8 * lane -: 8];
  endfunction

  assign is_flush    = NeverFlushes && cpl_o.status == StatusWrFlushErr;
  assign cpl_valid_o = inner_cpl_valid && !is_flush;

  // Behind a configuration that waits no work is offered that was not before.
  assign holds_work     = qpc_valid_i && !qpc_ready_o && !work_waits_q;
  assign inner_wr_valid = wr_valid_i && !holds_work;
  assign wr_ready_o     = inner_wr_ready && !holds_work;
  always_ff @(posedge clk_i) work_waits_q <= rst_ni && inner_wr_valid && !inner_wr_ready;

  assign begins    = wr_valid_i && wr_ready_o;
  assign ends      = cpl_valid_o && cpl_ready_i;
  assign activates = qpc_valid_i && qpc_ready_o && qpc_i.command == QpActivate;
  assign may_leave = rest_q == 0;
  // Behind this cycle no frame of the endpoint is on its way, and no beat of one on offer.
  assign at_boundary = inner_valid && may_leave ? tx_tready_i && inner_last : !in_frame_q;

  assign tx_tvalid_o = may_leave && (asks_q || inner_valid);
  assign tx_tdata_o  = asks_q ? lanes({question, 32'h0}, beat_q) : inner_data;
  assign tx_tkeep_o  = asks_q ? (beat_q == LastBeat ? 8'h0F : 8'hFF) : inner_keep;
  assign tx_tlast_o  = asks_q ? beat_q == LastBeat : inner_last;
  assign tx_tuser_o  = !asks_q && inner_user;
  assign inner_ready = may_leave && !asks_q && tx_tready_i;
  assign qpc_ready_o = state_q == Pass && inner_qpc_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q       <= Look;
      asks_q        <= 1'b0;
      beat_q        <= '0;
      for (int qp = 0; qp < 16; qp++) outstanding_q[qp] <= '0;
      rest_q        <= '0;
      in_frame_q    <= 1'b0;
      heard_q       <= '0;
      is_reply_q    <= 1'b0;
      has_one_q     <= 1'b0;
      config_q      <= ConfigCycles;
      has_key_q     <= '0;
    end else begin
      if (state_q == Look && qpc_valid_i && config_q != 0) config_q <= config_q - 1;
      else if (state_q == Pass) config_q <= ConfigCycles;
      unique case (state_q)
        Look:  if (qpc_valid_i && config_q == 0) state_q <= Resolves && qpc_i.command == QpActivate ? Ask : Pass;
        Ask:   if (asks_q && tx_tvalid_o && tx_tready_i) begin
                 beat_q <= beat_q + 3'd1;
                 if (beat_q == LastBeat) begin
                   state_q <= Await;
                   asks_q  <= 1'b0;
                 end
               end else if (!asks_q) begin
                 asks_q <= at_boundary;
               end
        Await: if (is_reply_q) state_q <= Pass;
        Pass:  if (qpc_valid_i && inner_qpc_ready) state_q <= Look;
      endcase

      if (tx_tvalid_o && tx_tready_i) begin
        rest_q     <= Slow - 1;
        in_frame_q <= asks_q ? 1'b0 : !inner_last;
      end else if (rest_q != 0) begin
        rest_q <= rest_q - 1;
      end

      // An answer: EtherType and operation in beats 1 and 2, the sender's address in beat 3.
      if (rx_tvalid_i && rx_tready_o) begin
        heard_q <= rx_tlast_i ? '0 : heard_q + 5'(heard_q != '1);
        unique case (heard_q)
          5'd1: is_reply_q <= rx_tdata_i[47:32] == 16'h0608;
          5'd2: is_reply_q <= is_reply_q && rx_tdata_i[39:32] == 8'h00 && rx_tdata_i[47:40] == 8'h02;
          5'd3: is_reply_q <= is_reply_q && {rx_tdata_i[39:32], rx_tdata_i[47:40],
                                             rx_tdata_i[55:48], rx_tdata_i[63:56]}
                                         == qpc_i.remote_gid[31:0];
          default: if (state_q != Await) is_reply_q <= 1'b0;
        endcase
      end

      if (begins && wr_i.length % LengthMultiple != 0) begin
        $fatal(1, "asked for %0d bytes", wr_i.length);
      end
      if (Outstanding != 0) begin
        for (int qp = 0; qp < 16; qp++) begin
          if (qpc_valid_i && qpc_ready_o && qpc_i.local_qpn[3:0] == 4'(qp)) begin
            outstanding_q[qp] <= '0;
          end else begin
            outstanding_q[qp] <= outstanding_q[qp] + 32'(begins && wr_i.qpn[3:0] == 4'(qp))
                               - 32'(ends && outstanding_q[qp] != 0 && cpl_o.qpn[3:0] == 4'(qp));
          end
          if (outstanding_q[qp] > Outstanding) begin
            $fatal(1, "%0d messages outstanding", outstanding_q[qp]);
          end
        end
        if (Shared && outstanding_q.sum() > Outstanding) begin
          $fatal(1, "%0d messages outstanding in all", outstanding_q.sum());
        end
      end
      if (OneKey) begin
        if (begins) begin
          has_key_q[wr_i.qpn[3:0]] <= 1'b1;
          if (!has_key_q[wr_i.qpn[3:0]]) key_q[wr_i.qpn[3:0]] <= wr_i.rkey;
          else if (key_q[wr_i.qpn[3:0]] != wr_i.rkey) $fatal(1, "asked for another key");
        end
        if (qpc_valid_i && qpc_ready_o) has_key_q[qpc_i.local_qpn[3:0]] <= 1'b0;
      end
      if (OnlyWrite && begins && wr_i.operation != OpWrite) begin
        $fatal(1, "asked for another operation than WRITE");
      end
      if (qpc_valid_i && qpc_ready_o && qpc_i.local_qpn == one_qpn_q) has_one_q <= 1'b0;
      if (activates) begin
        one_qpn_q <= qpc_i.local_qpn;
        has_one_q <= 1'b1;
        if (FixedHeaders && (qpc_i.traffic_class != 0 || qpc_i.hop_limit != 64
                             || qpc_i.local_qpn != 17)) begin
          $fatal(1, "asked for a header that is fixed");
        end
        if (OneMtu && qpc_i.path_mtu != Mtu1024) $fatal(1, "asked for another path MTU");
        if (OnlyRc && qpc_i.service != ServiceRc) $fatal(1, "asked for another service than RC");
        if (OneQueuePair && has_one_q && qpc_i.local_qpn != one_qpn_q) begin
          $fatal(1, "asked for a second queue pair");
        end
      end
    end
  end

  roce_endpoint #(.DataWidth(DataWidth), .ClockPs(ClockPs)) u_endpoint (
    .qpc_valid_i (qpc_valid_i && state_q == Pass),
    .qpc_ready_o (inner_qpc_ready),
    .wr_valid_i  (inner_wr_valid),
    .wr_ready_o  (inner_wr_ready),
    .cpl_valid_o (inner_cpl_valid),
    .cpl_ready_i (cpl_ready_i || is_flush),
    .tx_tdata_o  (inner_data),
    .tx_tkeep_o  (inner_keep),
    .tx_tvalid_o (inner_valid),
    .tx_tlast_o  (inner_last),
    .tx_tuser_o  (inner_user),
    .tx_tready_i (inner_ready),
    .*
  );

endmodule

`default_nettype wire
