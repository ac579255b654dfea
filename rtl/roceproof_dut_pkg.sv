// SPDX-License-Identifier: BSD-2-Clause
//
// The DUT contract in types: every record that crosses the boundary between
// the test bench and a RoCEv2 endpoint. docs/dut-contract.md explains them.
//
// A record is a packed struct whose first field is its most significant; read
// as bytes from the top it is the big-endian record that a test program
// writes. Fields are whole bytes, and most 24-bit numbers sit in a 32-bit field
// whose top byte is zero. The bridge moves records without looking inside.

`ifndef ROCEPROOF_DUT_PKG_SV
`define ROCEPROOF_DUT_PKG_SV

package roceproof_dut_pkg;

  // Opcode bits 7:5 of the QP's transport service (catalogue 1.1).
  typedef enum logic [7:0] {
    ServiceRc = 8'd0,
    ServiceUc = 8'd1,
    ServiceUd = 8'd3
  } service_e;

  // Path MTU in the IBA's encoding: 1 is 256 bytes, 5 is 4096.
  typedef enum logic [7:0] {
    Mtu256  = 8'd1,
    Mtu512  = 8'd2,
    Mtu1024 = 8'd3,
    Mtu2048 = 8'd4,
    Mtu4096 = 8'd5
  } path_mtu_e;

  typedef enum logic [7:0] {
    QpReset    = 8'd0,  // forget the QP: nothing is sent, everything for it is ignored
    QpActivate = 8'd1,  // (re)start the QP from the state given in the record, both directions
    // Version 2, for devices that claim `states`; each carries the whole record.
    QpInit     = 8'd2,  // receives may be posted; nothing is sent or taken
    QpRtr      = 8'd3,  // and requests are taken, from rq_psn on
    QpRts      = 8'd4,  // and work requests, from sq_psn on
    QpError    = 8'd5,  // nothing is sent or taken; what is posted is flushed
    // And for those that make connections themselves, if they ask for any.
    QpConnect    = 8'd6,  // ask the record's peer for a connection of this queue pair
    QpDisconnect = 8'd7   // and end it
  } qp_command_e;

  typedef enum logic [7:0] {
    OpSend     = 8'd0,
    OpSendImm  = 8'd1,
    OpWrite    = 8'd2,
    OpWriteImm = 8'd3,
    // Version 2, on RC, for devices that claim them; operands_t is their payload.
    OpRead     = 8'd4,
    OpCmpSwap  = 8'd5,
    OpFetchAdd = 8'd6
  } operation_e;

  // The numbers of ibv_wc_status, so that tools can print verbs' own names.
  typedef enum logic [7:0] {
    StatusSuccess      = 8'd0,
    StatusLocLenErr    = 8'd1,   // length above 2^31: refused, nothing sent
    StatusLocQpOpErr   = 8'd2,   // QP not active, or operation not supported
    StatusLocProtErr   = 8'd4,   // a receive or a READ names memory that the device may not write
    StatusWrFlushErr   = 8'd5,   // QP went to error before this request's turn
    StatusBadRespErr   = 8'd7,   // what answers a READ does not fit its place
    StatusRemInvReqErr = 8'd9,   // NAK 0x61
    StatusRemAccessErr = 8'd10,  // NAK 0x62
    StatusRemOpErr     = 8'd11,  // NAK 0x63
    StatusRetryExcErr  = 8'd12,  // NAK 0x60 or timeout, retry budget spent
    StatusRnrRetryExc  = 8'd13   // RNR NAK, retry budget spent
  } status_e;

  // Rights of a memory region, or of a peer on a QP: the bits of ibv_access_flags. And of a QP,
  // for devices that claim `credits`, whether they obey end-to-end credits on it.
  typedef struct packed {
    logic       flow_control;
    logic [2:0] reserved;
    logic       remote_atomic;
    logic       remote_read;
    logic       remote_write;
    logic       local_write;
  } access_t;

  // One queue pair. 64 bytes. A version 1 bench leaves the fields of version 2 zero.
  typedef struct packed {
    qp_command_e  command;
    service_e     service;
    path_mtu_e    path_mtu;
    access_t      access;         // version 2: what the peer may do
    logic [31:0]  local_qpn;
    logic [31:0]  remote_qpn;
    logic [7:0]   tag_high;       // for devices that claim `vlan`: the first byte of the TCI in the tag
                                  // of its packets, with a 1 where DEI is; 0 is no tag
    logic [23:0]  sq_psn;         // PSN of the first request sent
    logic [7:0]   tag_low;        // and its second byte
    logic [23:0]  rq_psn;         // PSN expected in the first request received
    logic [47:0]  remote_mac;     // resolved next hop
    logic [15:0]  udp_sport;      // 0xC000..0xFFFF
    logic [127:0] remote_gid;     // IPv4 a.b.c.d is ::ffff:a.b.c.d
    logic [7:0]   traffic_class;  // DSCP in 7:2, ECN in 1:0
    logic [7:0]   hop_limit;      // IPv4 TTL
    logic [15:0]  ip_id;          // IPv4 identification of the first packet; +1 per packet
    logic [7:0]   ack_timeout;    // code t: 4.096 us * 2^t, 0 is no timeout
    logic [7:0]   retry_count;
    logic [7:0]   rnr_retry;
    logic [7:0]   min_rnr_timer;  // code that an RNR NAK carries
    // Version 2.
    logic [15:0]  pd;             // protection domain
    logic [15:0]  srq;            // shared receive queue, 0 is none
    logic [31:0]  qkey;           // UD
    logic [7:0]   max_rd_atomic;       // READs and atomics that the device may have outstanding
    logic [7:0]   max_dest_rd_atomic;  // and that its peer may
    logic [15:0]  completed;      // messages that count as received before, in units of 256
  } qp_config_t;

  // One work request. 40 bytes. Its payload arrives on the payload stream,
  // in the order of the work requests; a zero-length request has no beats.
  typedef struct packed {
    logic [63:0] wr_id;
    logic [31:0] qpn;             // local QPN
    operation_e  operation;
    logic [6:0]  reserved0;
    logic        solicited;
    logic [15:0] payload_offset;  // bytes to skip in the first payload beat, < beat size
    logic [63:0] remote_addr;     // WRITE: virtual address at the peer; UD: the QPN there
    logic [31:0] rkey;            // WRITE; UD: the Q_Key, with the top bit set that of the QP
    logic [31:0] length;          // bytes, 0 .. 2^31
    logic [31:0] immediate;       // *Imm, sent most significant byte first
    logic [31:0] reserved1;
  } work_request_t;

  // One completion. 16 bytes.
  typedef struct packed {
    logic [63:0] wr_id;
    logic [31:0] qpn;       // local QPN
    status_e     status;
    logic [7:0]  syndrome;  // AETH syndrome that decided it; 0xFF where no response did
    logic [15:0] reserved0;
  } completion_t;

  // Version 2, each optional: docs/dut-contract-v2.md.

  typedef enum logic [7:0] {
    RegionForget   = 8'd0,  // from now on its keys name nothing
    RegionRegister = 8'd1
  } region_command_e;

  // The payload of a READ or an atomic, most significant byte first: where its
  // answer goes, and what an atomic works with. 32 bytes.
  typedef struct packed {
    logic [63:0] address;      // local, in the region of lkey
    logic [31:0] lkey;
    logic [31:0] reserved;
    logic [63:0] compare;      // CMP_SWAP
    logic [63:0] swap_or_add;
  } operands_t;

  // One memory region. 40 bytes. Byte `va` of it lies at `base` in the device's memory.
  typedef struct packed {
    region_command_e command;
    access_t         access;
    logic [15:0]     pd;
    logic [31:0]     lkey;
    logic [31:0]     rkey;
    logic [63:0]     va;
    logic [63:0]     length;
    logic [63:0]     base;
    logic [31:0]     reserved;
  } memory_region_t;

  // One receive. 32 bytes.
  typedef struct packed {
    logic [63:0] wr_id;
    logic [31:0] qpn;       // local QPN, if srq is 0
    logic [31:0] lkey;
    logic [63:0] address;
    logic [31:0] length;
    logic [15:0] srq;
    logic [15:0] reserved;
  } receive_t;

  typedef struct packed {
    logic [4:0] reserved;
    logic       solicited;
    logic       invalidate;
    logic       immediate;
  } receive_flags_t;

  // The end of one receive. 32 bytes.
  typedef struct packed {
    logic [63:0]    wr_id;
    logic [31:0]    qpn;        // local QPN
    status_e        status;
    receive_flags_t flags;
    logic [15:0]    reserved0;
    logic [31:0]    byte_len;   // of the message; UD: and its 40 bytes of network header
    logic [31:0]    immediate;  // or the key that was invalidated
    logic [31:0]    src_qpn;
    logic [31:0]    reserved1;
  } receive_completion_t;

  // One access to memory. 16 bytes. Its data are a packet of the stream beside it.
  typedef struct packed {
    logic [63:0] address;
    logic [31:0] length;    // bytes, never 0
    logic [15:0] tag;
    logic [15:0] reserved;
  } memory_command_t;

  // A write is in memory, and any reader sees it. 4 bytes.
  typedef struct packed {
    logic [15:0] tag;
    logic [15:0] reserved;
  } memory_done_t;

  typedef enum logic [7:0] {
    ConnectionAnswered    = 8'd0,  // a REQ, by a REP: requests are taken
    ConnectionEstablished = 8'd1,  // by RTU or the first request: and work requests
    ConnectionEnded       = 8'd2   // by DREQ or REJ: neither
  } connection_step_e;

  // A step of a connection that the device makes itself. 32 bytes.
  typedef struct packed {
    logic [31:0]      qpn;         // local QPN
    connection_step_e step;
    path_mtu_e        path_mtu;
    logic [15:0]      reserved0;
    logic [31:0]      remote_qpn;
    logic [31:0]      sq_psn;      // PSN of the first request sent
    logic [31:0]      rq_psn;      // PSN expected in the first request received
    logic [15:0]      udp_sport;   // as in qp_config_t: what the device has chosen
    logic [15:0]      ip_id;
    logic [63:0]      reserved1;
  } connection_event_t;

endpackage

`endif
