// SPDX-License-Identifier: BSD-2-Clause
//
// What the modules of the byte-wide endpoint share: the headers of a packet as
// they lie on the wire, and the order for one packet to be sent.

package be_pkg;

  localparam int HeaderBytes = 74;  // up to and with the longest headers taken apart

  // First byte on the wire first. What follows the BTH is in `ext`.
  typedef struct packed {
    logic [47:0]  dst_mac;
    logic [47:0]  src_mac;
    logic [15:0]  ethertype;
    logic [7:0]   version;     // and header length
    logic [7:0]   tos;
    logic [15:0]  ip_length;
    logic [15:0]  ip_id;
    logic [15:0]  fragment;
    logic [7:0]   ttl;
    logic [7:0]   protocol;
    logic [15:0]  ip_checksum;
    logic [31:0]  src_ip;
    logic [31:0]  dst_ip;
    logic [15:0]  src_port;
    logic [15:0]  dst_port;
    logic [15:0]  udp_length;
    logic [15:0]  udp_checksum;
    logic [7:0]   opcode;
    logic         solicited;
    logic         migrated;
    logic [1:0]   pad;
    logic [3:0]   version_iba;
    logic [15:0]  pkey;
    logic [7:0]   reserved0;
    logic [23:0]  qpn;
    logic         ack_request;
    logic [6:0]   reserved1;
    logic [23:0]  psn;
    logic [159:0] ext;
  } header_t;

  typedef enum logic [1:0] { FrameNone, FrameArp, FrameEcho, FrameRoce } frame_e;

  // From where the bytes behind the headers come.
  typedef enum logic [1:0] { FromNowhere, FromAside, FromMessage, FromMad } source_e;

  typedef struct packed {
    frame_e       kind;
    source_e      source;
    logic [47:0]  mac;
    logic [31:0]  ip;
    logic [15:0]  sport;
    logic [7:0]   tos;
    logic [7:0]   ttl;
    logic [15:0]  ip_id;
    logic [7:0]   opcode;
    logic         solicited;
    logic         ack_request;
    logic [23:0]  qpn;
    logic [23:0]  psn;
    logic [4:0]   ext_bytes;
    logic [159:0] ext;         // first byte on top
    logic [15:0]  first;       // byte of the source
    logic [13:0]  bytes;       // of payload
  } order_t;

  // The one queue pair, as either its owner or the connection manager set it up.
  typedef struct packed {
    logic [23:0] qpn;
    logic [23:0] remote_qpn;
    logic [47:0] mac;
    logic [31:0] ip;
    logic [15:0] sport;
    logic [7:0]  tos;
    logic [7:0]  ttl;
    logic [15:0] ip_id;
    logic [2:0]  mtu;          // 1 is 256 bytes
    logic [23:0] sq_psn;
    logic [23:0] rq_psn;
    logic [4:0]  ack_timeout;
    logic [4:0]  rnr_timer;
    logic [2:0]  retries;      // asked of the peer, as are those behind RNR NAKs
    logic [2:0]  rnr_retries;
    logic        may_write;    // the peer
    logic        may_send;     // this end, at once
  } queue_pair_t;

  // A work request.
  typedef struct packed {
    logic [63:0] wr_id;
    logic [31:0] qpn;
    logic [7:0]  operation;
    logic        solicited;
    logic [63:0] va;
    logic [31:0] rkey;
    logic [31:0] length;
    logic [31:0] immediate;
  } work_t;

  // A receive that waits for its message.
  typedef struct packed {
    logic [63:0] wr_id;
    logic [31:0] key;
    logic [63:0] address;
    logic [31:0] length;
  } waiting_t;

  typedef struct packed {
    logic [63:0] wr_id;
    logic [7:0]  status;
    logic        immediate;
    logic        solicited;
    logic [31:0] byte_len;
    logic [31:0] value;        // the immediate
  } received_t;

  typedef struct packed {
    logic [63:0] wr_id;
    logic [31:0] qpn;
    logic [7:0]  status;
    logic [7:0]  syndrome;
  } sent_t;

  // A message of connection management, as far as this endpoint looks at it.
  typedef struct packed {
    logic [31:0]  start;        // versions, class, method
    logic [63:0]  transaction;
    logic [15:0]  attribute;
    logic [31:0]  local_id;
    logic [31:0]  remote_id;
    logic [23:0]  goodbye_qpn;  // DREQ
    logic [23:0]  reply_qpn;    // REP
    logic [23:0]  reply_psn;
    logic [63:0]  service;      // REQ, as all below
    logic [23:0]  qpn;
    logic [1:0]   transport;
    logic [23:0]  psn;
    logic [3:0]   mtu;
    logic [31:0]  ip;           // of the local GID
    logic [127:0] gid;          // remote
    logic [7:0]   tos;
    logic [7:0]   ttl;
    logic [4:0]   ack_timeout;
  } mad_t;

  // One to be sent; of the queue pair a REQ and a DREQ say more.
  typedef struct packed {
    logic [15:0] attribute;
    logic [63:0] transaction;
    logic [31:0] local_id;
    logic [31:0] remote_id;
    logic [15:0] reason;        // REJ
  } said_t;

  localparam logic [31:0] MadStart = 32'h0107_0203;
  localparam logic [15:0] Req = 16'h0010, Rej = 16'h0012, Rep = 16'h0013, Rtu = 16'h0014,
                          Dreq = 16'h0015, Drep = 16'h0016;

  localparam logic [7:0] Success = 8'd0, LocLenErr = 8'd1, LocQpOpErr = 8'd2, LocProtErr = 8'd4,
                         WrFlushErr = 8'd5, RemInvReqErr = 8'd9, RemAccessErr = 8'd10,
                         RemOpErr = 8'd11, RetryExcErr = 8'd12, RnrRetryExc = 8'd13;

  localparam logic [47:0] EveryMac = '1;
  localparam logic [15:0] RocePort = 16'd4791;

  // Headers between BTH and payload, of what this endpoint may be sent.
  function automatic logic [4:0] ext_bytes_of(input logic [7:0] opcode);
    unique case (opcode)
      8'h03, 8'h05, 8'h09, 8'h11, 8'h16, 8'h17: return 5'd4;
      8'h0D, 8'h0F, 8'h10:                      return 5'd4;
      8'h06, 8'h0A, 8'h0C:                      return 5'd16;
      8'h0B:                                    return 5'd20;
      8'h12:                                    return 5'd12;
      8'h13, 8'h14:                             return 5'd28;
      8'h64:                                    return 5'd8;
      default:                                  return 5'd0;
    endcase
  endfunction

endpackage
