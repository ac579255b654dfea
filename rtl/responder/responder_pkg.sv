// SPDX-License-Identifier: BSD-2-Clause
//
// The responder's records: what is known of the queue pair that a request comes
// to, and what follows from both.

`ifndef RESPONDER_PKG_SV
`define RESPONDER_PKG_SV

package responder_pkg;

  import roce_pkg::ipv6_t;
  import request_pkg::*;

  parameter int unsigned MaxReads = 16;    // of one QP that are remembered, or not yet answered

  parameter logic [31:0] LongestMessage = 32'h8000_0000;
  parameter logic [31:0] AtomicBytes    = 32'd8;

  // What stands in a receive in front of a datagram; the header of IPv4 at the end of it.
  parameter logic [31:0] NetworkHeaderBytes = 32'd40;
  parameter logic [31:0] Ipv4Bytes          = 32'd20;

  // AETH syndromes.
  parameter logic [7:0] SyndromeAck         = 8'h1F;  // no end-to-end credits
  parameter logic [7:0] SyndromeRnr         = 8'h20;  // and the timer code
  parameter logic [7:0] SyndromeSequence    = 8'h60;
  parameter logic [7:0] SyndromeInvalid     = 8'h61;
  parameter logic [7:0] SyndromeAccess      = 8'h62;
  parameter logic [7:0] SyndromeOperational = 8'h63;

  // What a queue pair was told.
  typedef struct packed {
    logic                     known;      // receives may be posted
    logic                     receiving;  // requests are taken
    logic                     reliable;   // RC
    logic                     datagram;   // UD; UC is neither
    logic [31:0]              qkey;
    logic [2:0]               path_mtu;   // IBA encoding
    roceproof_dut_pkg::access_t access;
    logic [15:0]              pd;
    logic [23:0]              local_qpn;
    logic [4:0]               rnr_timer;
    logic [4:0]               read_limit;
    roce_tx_pkg::path_t       path;
  } receiver_t;

  // A message of which part has come, or is about to.
  typedef struct packed {
    logic        open;
    logic        send;     // into a receive, otherwise where the RETH says
    logic [31:0] key;
    logic [63:0] address;  // of the next byte
    logic [31:0] left;     // bytes that may still come: of the RETH, or of the receive
    logic [31:0] done;     // bytes that have come
  } message_t;

  // How far a queue pair has come.
  typedef struct packed {
    logic        failed;
    logic        executed;     // anything, ever
    logic        nak_pending;  // the peer was told to come back to the expected PSN
    logic [23:0] expected_psn;
    logic [23:0] msn;
    message_t    message;
  } progress_t;

  // The receive at the head of a queue.
  typedef struct packed {
    logic [63:0] wr_id;
    logic [31:0] lkey;
    logic [63:0] address;
    logic [31:0] length;
  } receive_slot_t;

  // A question to the region table.
  typedef struct packed {
    logic        local_key;  // an lkey, otherwise an rkey
    roceproof_dut_pkg::access_t right;
    logic [31:0] key;
    logic [15:0] pd;
    logic [63:0] address;
    logic [31:0] length;
  } region_query_t;

  // Whose READ or atomic has been answered once a frame has left.
  typedef struct packed {
    logic        ends;   // it does, with this frame
    logic        holds;  // it counts among those of its QP; a repeated one does not
    logic [10:0] index;  // of the QP
  } read_note_t;

  // What becomes of one request.
  typedef struct packed {
    logic                       changes;       // there is new progress
    progress_t                  progress;
    logic                       heads;         // the network header goes to memory
    logic                       writes;        // the payload does, behind it
    logic                       keeps;         // this READ or atomic is remembered
    logic                       reads;         // the answer is what memory holds
    logic                       operates;      // an atomic, and the answer is what was there
    logic                       replays;       // the answer is what was there then
    logic                       answers;
    logic [7:0]                 syndrome;
    logic [23:0]                answer_psn;
    logic                       completes;     // the receive at the head, with success
    logic [31:0]                byte_len;
    logic                       invalidates;   // the key that the request names
    logic                       fails;         // the queue pair: its receives are flushed
    logic                       uses_receive;  // the first of them ends with `status`
    roceproof_dut_pkg::status_e status;
  } decision_t;

  // An acknowledge packet to be sent, or what a READ or an atomic asks for.
  typedef struct packed {
    roce_tx_pkg::path_t path;
    logic [23:0]        psn;
    logic [7:0]         syndrome;
    logic [23:0]        msn;
    logic               reads;
    logic               atomic;
    logic [63:0]        original;
    logic [2:0]         path_mtu;
    logic [63:0]        address;  // in memory
    logic [31:0]        length;
    read_note_t         note;
  } answer_t;

  // A READ or atomic that the device has answered, and remembers. Of an atomic,
  // what was asked for does not count, but how it was answered.
  typedef struct packed {
    logic [4:0]  opcode;
    logic [23:0] psn;
    logic [24:0] packets;  // of the answer
    logic [31:0] rkey;
    logic [63:0] address;
    logic [31:0] length;
    logic [23:0] msn;
    logic [63:0] original;
  } kept_t;

  // How many bytes come with a command to write a few.
  typedef logic [5:0] short_size_t;

  // Counts writes asked for; never half of what it can count are outstanding.
  typedef logic [7:0] write_count_t;

  parameter int unsigned MaxWrites = 64;  // outstanding

  // What is due once all writes asked for until then are in memory.
  typedef struct packed {
    logic                                   answers;
    answer_t                                answer;
    logic                                   completes;
    roceproof_dut_pkg::receive_completion_t completion;
    write_count_t                           asked;
  } outcome_t;

  // The message that a packet belongs to, as it is before the packet. A packet
  // that continues nothing is judged as if it did; it is refused anyway.
  function automatic message_t message_of(
      request_t request, progress_t progress, receive_slot_t head);
    operation_t operation;
    message_t   message;
    operation = operation_of(request.opcode);
    message   = progress.message;
    if (operation.first) begin
      message      = '0;
      message.send = operation.kind == KindSend;
      if (message.send) begin
        message.key     = head.lkey;
        message.address = head.address;
        message.left    = head.length;
      end else begin
        message.key     = request.reth.rkey;
        message.address = request.reth.virtual_address;
        message.left    = operation.kind == KindAtomic ? AtomicBytes : request.reth.dma_length;
      end
    end
    return message;
  endfunction

  // Whether what is left of a message may go where it is to go, or come from there.
  function automatic region_query_t query_of(
      message_t message, receiver_t receiver, kind_e kind);
    region_query_t query;
    query                    = '0;
    query.local_key          = message.send;
    query.key                = message.key;
    query.pd                 = receiver.pd;
    query.address            = message.address;
    query.length             = message.left;
    query.right.local_write  = message.send;
    query.right.remote_read   = kind == KindRead;
    query.right.remote_atomic = kind == KindAtomic;
    query.right.remote_write  = !message.send && !(kind inside {KindRead, KindAtomic});
    return query;
  endfunction

  // Which region has a key that peers use.
  function automatic region_query_t key_query(logic [31:0] rkey, logic [15:0] pd);
    region_query_t query;
    query     = '0;
    query.key = rkey;
    query.pd  = pd;
    return query;
  endfunction

endpackage

`endif
