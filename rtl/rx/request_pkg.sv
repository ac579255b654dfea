// SPDX-License-Identifier: BSD-2-Clause
//
// What a request packet says, and what its opcode stands for.

`ifndef REQUEST_PKG_SV
`define REQUEST_PKG_SV

package request_pkg;

  import roce_pkg::*;
  import roceproof_dut_pkg::ServiceRc, roceproof_dut_pkg::ServiceUc, roceproof_dut_pkg::ServiceUd;

  parameter int unsigned MaxPayload = 4096;  // bytes of a packet at the longest path MTU

  // What a responder has beside SEND and WRITE on RC and UC.
  typedef struct packed {
    logic reads;
    logic atomics;
    logic datagrams;  // SEND on UD
    logic invalidate;
    logic shared;     // shared receive queues
    logic ipv6;       // all of these over IPv6, too
    logic vlan;       // answers will have a tag
  } serves_t;

  typedef enum logic [2:0] {
    KindSend,
    KindWrite,
    KindRead,
    KindAtomic,
    KindResponse,    // the requester's affair
    KindUnsupported  // reserved, or an operation that this responder does not have
  } kind_e;

  // What an opcode stands for.
  typedef struct packed {
    kind_e      kind;
    logic       first;
    logic       last;
    logic       reth;
    logic       immdt;
    logic       ieth;
    logic       deth;
    logic [4:0] extension_bytes;  // of all headers behind the BTH
  } operation_t;

  // One request packet of intact shape, addressed to this port.
  typedef struct packed {
    logic [7:0]  opcode;
    logic        solicited;
    logic        ack_req;
    logic [23:0] dest_qpn;
    logic [23:0] psn;
    logic [127:0] src_gid;
    logic [15:0] payload_bytes;
    reth_t       reth;  // of an atomic but for the length, which has none
    logic [63:0] swap_or_add;
    logic [63:0] compare;
    deth_t       deth;
    ipv6_t       ip;    // of a datagram; an IPv4 header at the end of it
    logic [31:0] immediate;  // or the key that shall become invalid
  } request_t;

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
        5'h13, 5'h14: begin  // CMP SWAP, FETCH ADD
          operation.kind            = KindAtomic;
          operation.first           = 1'b1;
          operation.last            = 1'b1;
          operation.extension_bytes = 5'd28;
        end
        5'h16, 5'h17: begin
          operation.kind            = KindSend;
          operation.first           = opcode[0];
          operation.last            = 1'b1;
          operation.ieth            = 1'b1;
          operation.extension_bytes = 5'd4;
        end
        5'h1C:                      operation.extension_bytes = 5'd20;  // FLUSH
        5'h0D, 5'h0F, 5'h10, 5'h11: begin
          operation.kind            = KindResponse;
          operation.extension_bytes = 5'd4;
        end
        5'h0E: operation.kind = KindResponse;
        5'h12: begin
          operation.kind            = KindResponse;
          operation.extension_bytes = 5'd12;
        end
        default: ;
      endcase
    end
    if (opcode[7:5] == ServiceUd[2:0]) begin
      operation.kind            = opcode[4:0] inside {5'h04, 5'h05} ? KindSend : KindUnsupported;
      operation.deth            = 1'b1;
      operation.extension_bytes = operation.immdt ? 5'd12 : 5'd8;
    end
    return operation;
  endfunction

  // Services whose requests there may be, by the upper bits of their opcodes.
  function automatic logic is_served_opcode(logic [7:0] opcode);
    return opcode[7:5] inside {ServiceRc[2:0], ServiceUc[2:0], ServiceUd[2:0]};
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

  function automatic logic is_fetch_add(request_t request);
    return request.opcode[4:0] == 5'h14;
  endfunction

endpackage

`endif
