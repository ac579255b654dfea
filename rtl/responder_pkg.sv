// SPDX-License-Identifier: BSD-2-Clause
//
// The responder's records: what a request packet says, what is known of the
// queue pair that it comes to, and what follows from both.

`ifndef RESPONDER_PKG_SV
`define RESPONDER_PKG_SV

package responder_pkg;

  import roce_pkg::*;

  parameter int unsigned MaxPayload = 4096;  // bytes of a packet at the longest path MTU
  parameter int unsigned MaxReads   = 16;    // of one QP that are remembered, or not yet answered

  parameter logic [31:0] LongestMessage = 32'h8000_0000;

  // AETH syndromes.
  parameter logic [7:0] SyndromeAck         = 8'h1F;  // no end-to-end credits
  parameter logic [7:0] SyndromeRnr         = 8'h20;  // and the timer code
  parameter logic [7:0] SyndromeSequence    = 8'h60;
  parameter logic [7:0] SyndromeInvalid     = 8'h61;
  parameter logic [7:0] SyndromeAccess      = 8'h62;
  parameter logic [7:0] SyndromeOperational = 8'h63;

  typedef enum logic [2:0] {
    KindSend,
    KindWrite,
    KindRead,
    KindResponse,    // the requester's affair
    KindUnsupported  // reserved, or an operation that this responder does not have
  } kind_e;

  // What an opcode stands for, on RC and UC.
  typedef struct packed {
    kind_e      kind;
    logic       first;
    logic       last;
    logic       reth;
    logic       immdt;
    logic       ieth;
    logic [4:0] extension_bytes;  // of all headers behind the BTH
  } operation_t;

  // One request packet of intact shape, addressed to this port.
  typedef struct packed {
    logic [7:0]  opcode;
    logic        solicited;
    logic        ack_req;
    logic [23:0] dest_qpn;
    logic [23:0] psn;
    logic [31:0] src_ipv4;
    logic [15:0] payload_bytes;
    reth_t       reth;
    logic [31:0] immediate;  // or the key that shall become invalid
  } request_t;

  // What a queue pair was told.
  typedef struct packed {
    logic                     known;      // receives may be posted
    logic                     receiving;  // requests are taken
    logic                     reliable;   // RC, otherwise UC
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

  // Whose READ has been answered once a frame has left.
  typedef struct packed {
    logic        ends;   // a READ, with this frame
    logic        holds;  // it counts among those of its QP; a repeated one does not
    logic [10:0] index;  // of the QP
  } read_note_t;

  // What becomes of one request.
  typedef struct packed {
    logic                       changes;       // there is new progress
    progress_t                  progress;
    logic                       writes;        // the payload goes to memory
    logic                       keeps;         // this READ is remembered
    logic                       reads;         // the answer is what memory holds
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

  // An acknowledge packet to be sent, or what a READ asks for.
  typedef struct packed {
    roce_tx_pkg::path_t path;
    logic [23:0]        psn;
    logic [7:0]         syndrome;
    logic [23:0]        msn;
    logic               reads;
    logic [2:0]         path_mtu;
    logic [63:0]        address;  // in memory
    logic [31:0]        length;
    read_note_t         note;
  } answer_t;

  // A READ of which the device remembers that it answered it.
  typedef struct packed {
    logic [23:0] psn;
    logic [24:0] packets;  // of the answer
    logic [31:0] rkey;
    logic [63:0] address;
    logic [31:0] length;
  } kept_read_t;

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

  function automatic operation_t operation_of(logic [7:0] opcode);
    operation_t operation;
    operation      = '0;
    operation.kind = KindUnsupported;
    unique case (opcode[4:0])
      5'h00, 5'h01, 5'h02, 5'h03, 5'h04, 5'h05: begin
        operation.kind  = KindSend;
        operation.first = opcode[4:0] inside {5'h00, 5'h04, 5'h05};
        operation.last  = opcode[4:0] >= 5'h02;
        operation.immdt = opcode[4:0] inside {5'h03, 5'h05};
      end
      5'h0C:
      if (!opcode[5]) begin  // RC alone
        operation.kind  = KindRead;
        operation.first = 1'b1;
        operation.last  = 1'b1;
        operation.reth  = 1'b1;
      end
      5'h06, 5'h07, 5'h08, 5'h09, 5'h0A, 5'h0B: begin
        operation.kind  = KindWrite;
        operation.first = opcode[4:0] inside {5'h06, 5'h0A, 5'h0B};
        operation.last  = opcode[4:0] >= 5'h08;
        operation.reth  = operation.first;
        operation.immdt = opcode[4:0] inside {5'h09, 5'h0B};
      end
      default: ;
    endcase
    operation.extension_bytes = (operation.reth ? 5'd16 : 5'd0) + (operation.immdt ? 5'd4 : 5'd0);
    if (!opcode[5]) begin  // RC alone
      unique case (opcode[4:0])
        5'h1D:                      operation.extension_bytes = 5'd16;  // ATOMIC WRITE
        5'h13, 5'h14:               operation.extension_bytes = 5'd28;  // CMP SWAP, FETCH ADD
        5'h16, 5'h17: begin
          operation.kind            = KindSend;
          operation.first           = opcode[0];
          operation.last            = 1'b1;
          operation.ieth            = 1'b1;
          operation.extension_bytes = 5'd4;
        end
        5'h1C:                      operation.extension_bytes = 5'd20;  // FLUSH
        5'h0D, 5'h0E, 5'h0F, 5'h10, 5'h11, 5'h12: operation.kind = KindResponse;
        default: ;
      endcase
    end
    return operation;
  endfunction

  function automatic logic [12:0] mtu_bytes(logic [2:0] path_mtu);
    return 13'd128 << path_mtu;
  endfunction

  // Packets that carry so many bytes; none at all need one.
  function automatic logic [24:0] packets_of(logic [31:0] length, logic [2:0] path_mtu);
    logic [32:0] rounded;
    rounded = 33'(length) + 33'(mtu_bytes(path_mtu)) - 33'd1;
    return length == '0 ? 25'd1 : 25'((rounded >> 7) >> path_mtu);
  endfunction

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
        message.left    = request.reth.dma_length;
      end
    end
    return message;
  endfunction

  function automatic logic is_read_request(request_t request);
    operation_t operation;
    operation = operation_of(request.opcode);
    return operation.kind == KindRead;
  endfunction

  // Whether what is left of a message may go where it is to go, or come from there.
  function automatic region_query_t query_of(
      message_t message, receiver_t receiver, logic is_read);
    region_query_t query;
    query                    = '0;
    query.local_key          = message.send;
    query.key                = message.key;
    query.pd                 = receiver.pd;
    query.address            = message.address;
    query.length             = message.left;
    query.right.local_write  = message.send;
    query.right.remote_read  = is_read;
    query.right.remote_write = !message.send && !is_read;
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
