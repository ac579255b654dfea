// SPDX-License-Identifier: BSD-2-Clause
//
// The transmit half's records: what its stages hand to each other.

`ifndef ROCE_TX_PKG_SV
`define ROCE_TX_PKG_SV

package roce_tx_pkg;

  import roce_pkg::*;

  // The header of IPv6 in place of IPv4's, and the extension headers behind the BTH, in wire order.
  typedef struct packed {
    logic ipv6;
    logic reth;
    logic deth;      // in the place of the RETH, never with it
    logic immdt;
    logic original;  // of an ATOMIC ACKNOWLEDGE, behind the AETH in the place of the immediate;
                     // behind both others the end of an AtomicETH
  } extensions_t;

  parameter int unsigned BaseHeaderBytes =
      ($bits(ethernet_t) + $bits(ipv4_t) + $bits(udp_t) + $bits(bth_t)) / 8;
  parameter int unsigned Ipv6MoreBytes   = ($bits(ipv6_t) - $bits(ipv4_t)) / 8;
  parameter int unsigned RethBytes       = $bits(reth_t) / 8;
  parameter int unsigned DethBytes       = $bits(deth_t) / 8;
  parameter int unsigned ImmDtBytes      = 4;
  parameter int unsigned OriginalBytes   = 8;
  parameter int unsigned AtomicEthBytes  = 28;
  parameter int unsigned MaxHeaderBytes  = BaseHeaderBytes + Ipv6MoreBytes + AtomicEthBytes;
  parameter int unsigned IcrcBytes       = 4;
  parameter int unsigned MinFrameBytes   = 60;
  parameter int unsigned VlanTagBytes    = 4;

  typedef logic [8*MaxHeaderBytes-1:0] header_t;

  parameter int unsigned MaxAsked = 16;  // READs and atomics of one QP that are under way

  // Of what a QP that can repeat has sent, so many packets are kept.
  parameter int unsigned ReplayPackets = 128;
  typedef logic [$clog2(ReplayPackets)-1:0] slot_t;

  // Counts the activations of one QP, so that what was under way before the
  // last one can be told from what came after it.
  typedef logic [7:0] generation_t;

  // A QP that can repeat asks for an acknowledgement with the last of each
  // 2^AskBits PSNs, too, so that a message longer than its window goes on.
  parameter int unsigned AskBits = 3;

  // A part of the line's rate.
  parameter int unsigned RateBits = 13;
  typedef logic [RateBits-1:0] rate_t;
  parameter rate_t LineRate = rate_t'(1 << (RateBits - 1));

  // What all packets of a QP have in common.
  typedef struct packed {
    logic [47:0]  remote_mac;
    logic         ipv6;
    logic [127:0] remote_gid;     // as kept_gid has it
    logic [15:0]  udp_sport;
    logic [7:0]   traffic_class;
    logic [7:0]   hop_limit;
    logic [23:0]  remote_qpn;
    vlan_tag_t    tag;
  } path_t;

  // A QP as the segmenter sees it.
  typedef struct packed {
    logic        usable;     // active, and of a kind that this endpoint sends
    logic        reliable;   // RC, otherwise UC or UD
    logic [4:0]  read_limit; // READs and atomics under way; 0 if it may send none
    logic        datagram;   // UD
    logic [31:0] qkey;       // of it
    logic [2:0]  path_mtu;   // IBA encoding
    logic [31:0] local_qpn;
    path_t       path;
  } sender_t;

  // An RC message asking for its place among those awaiting acknowledgement.
  typedef struct packed {
    logic [31:0] qpn;
    logic [63:0] wr_id;
    logic [23:0] last_psn;
  } message_start_t;

  // A READ or an atomic that is sent: where its answer goes.
  typedef struct packed {
    logic [23:0] first_psn;
    logic [23:0] last_psn;
    logic        atomic;
    logic [31:0] lkey;
    logic [63:0] address;
    logic [31:0] length;
  } asked_t;

  // What a response shows besides, of READs and atomics that are sent.
  typedef struct packed {
    roceproof_dut_pkg::status_e status;  // StatusSuccess if there is no fault
    logic [23:0]                psn;     // the first that will have no answer
    logic [23:0]                answered;  // PSNs of the READ that is then the oldest
    logic [23:0]                ended;     // more PSNs than one, of a READ that ends
    logic                       mute;      // it has no AETH
  } fault_t;

  // A packet that leaves again; of a READ, what is still to be answered.
  typedef struct packed {
    logic [23:0] psn;
    logic [23:0] place;      // where it is kept
    logic [23:0] answered;   // PSNs of it that go before
    logic [23:0] last_psn;
    generation_t generation;
  } copy_t;

  // One packet to be built, or payload to be thrown away.
  typedef struct packed {
    logic        discard;        // send nothing, consume payload_bytes
    logic [31:0] payload_bytes;
    path_t       path;
    logic [7:0]  opcode;
    logic        solicited;
    logic        ack_req;
    logic [23:0] psn;
    logic [15:0] ip_id;
    extensions_t extensions;
    reth_t       reth;           // or a DETH: as its address
    logic [31:0] immediate;
    logic [63:0] original;       // zero where there is none; the compare data of an AtomicETH, whose
                                 // swap data are dma_length and immediate
  } packet_t;

  // One frame to be assembled, or payload to be thrown away.
  typedef struct packed {
    logic        discard;
    logic [31:0] payload_bytes;
    extensions_t extensions;
    vlan_tag_t   tag;
    logic [13:0] icrc_offset;
    logic [13:0] frame_bytes;  // without a tag
    header_t     header;       // first byte most significant, zero past its end
  } frame_t;

  // What remains to be done once a frame has left.
  typedef struct packed {
    logic                           discard;    // no frame: due at once
    logic                           tracked;    // RC: the ACK tracker wants to know
    logic                           copy;       // of a packet that has left before
    generation_t                    generation;
    logic                           ack_req;
    logic                           asks;       // it is a READ or an atomic, and psn that of its last response
    logic [23:0]                    psn;
    logic                           completes;  // hand over the completion
    roceproof_dut_pkg::completion_t completion;
  } departure_t;

  // Which pending messages of a QP complete: those that end before `bound`, or in a flush all,
  // the oldest of them with `status`.
  typedef struct packed {
    logic [31:0]                qpn;
    logic                       flush;
    logic [23:0]                bound;
    roceproof_dut_pkg::status_e status;
    logic [7:0]                 syndrome;
  } retirement_t;

  // What the ACK tracker does, one at a time; ack_tracker.sv explains them.
  typedef enum logic [2:0] {
    OpConfigure,
    OpDeparted,
    OpStart,
    OpResponse,
    OpScan,
    OpFlush,
    OpReplay
  } ack_op_e;

  function automatic logic [23:0] distance(logic [23:0] to, logic [23:0] from);
    return to - from;
  endfunction

  // Of two PSNs less than 2^23 apart.
  function automatic logic precedes(logic [23:0] psn, logic [23:0] other);
    return distance(psn, other) >= 24'h80_0000;
  endfunction

  function automatic logic [6:0] header_bytes(extensions_t extensions);
    return 7'(BaseHeaderBytes) + (extensions.ipv6 ? 7'(Ipv6MoreBytes) : 7'd0)
        + (extensions.reth ? 7'(RethBytes) : 7'd0) + (extensions.deth ? 7'(DethBytes) : 7'd0)
        + (extensions.immdt ? 7'(ImmDtBytes) : 7'd0)
        + (extensions.original ? 7'(OriginalBytes) : 7'd0);
  endfunction

endpackage

`endif
