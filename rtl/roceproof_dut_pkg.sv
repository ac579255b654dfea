// SPDX-License-Identifier: BSD-2-Clause
//
// The DUT contract in types: every record that crosses the boundary between
// the test bench and a RoCEv2 endpoint. docs/dut-contract.md explains them.
//
// A record is a packed struct whose first field is its most significant; read
// as bytes from the top it is the big-endian record that a test program
// writes. Fields are whole bytes, so a 24-bit number sits in a 32-bit field
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
    QpActivate = 8'd1   // (re)start the QP from the state given in the record
  } qp_command_e;

  typedef enum logic [7:0] {
    OpSend     = 8'd0,
    OpSendImm  = 8'd1,
    OpWrite    = 8'd2,
    OpWriteImm = 8'd3
  } operation_e;

  // The numbers of ibv_wc_status, so that tools can print verbs' own names.
  typedef enum logic [7:0] {
    StatusSuccess      = 8'd0,
    StatusLocLenErr    = 8'd1,   // length above 2^31: refused, nothing sent
    StatusLocQpOpErr   = 8'd2,   // QP not active, or operation not supported
    StatusWrFlushErr   = 8'd5,   // QP went to error before this request's turn
    StatusRemInvReqErr = 8'd9,   // NAK 0x61
    StatusRemAccessErr = 8'd10,  // NAK 0x62
    StatusRemOpErr     = 8'd11,  // NAK 0x63
    StatusRetryExcErr  = 8'd12,  // NAK 0x60 or timeout, retry budget spent
    StatusRnrRetryExc  = 8'd13   // RNR NAK, retry budget spent
  } status_e;

  // One queue pair. 64 bytes.
  typedef struct packed {
    qp_command_e  command;
    service_e     service;
    path_mtu_e    path_mtu;
    logic [7:0]   reserved0;
    logic [31:0]  local_qpn;
    logic [31:0]  remote_qpn;
    logic [31:0]  sq_psn;         // PSN of the first request sent
    logic [31:0]  rq_psn;         // PSN expected in the first request received
    logic [47:0]  remote_mac;     // resolved next hop
    logic [15:0]  udp_sport;      // 0xC000..0xFFFF
    logic [127:0] remote_gid;     // IPv4 a.b.c.d is ::ffff:a.b.c.d
    logic [7:0]   traffic_class;  // DSCP in 7:2, ECN in 1:0
    logic [7:0]   hop_limit;      // IPv4 TTL
    logic [15:0]  ip_id;          // IPv4 identification of the first packet; +1 per packet
    logic [7:0]   ack_timeout;    // code t: 4.096 us * 2^t, 0 is no timeout
    logic [7:0]   retry_count;
    logic [7:0]   rnr_retry;
    logic [7:0]   min_rnr_timer;
    logic [95:0]  reserved1;
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
    logic [63:0] remote_addr;     // WRITE: virtual address at the peer
    logic [31:0] rkey;            // WRITE
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

endpackage

`endif
