// SPDX-License-Identifier: BSD-2-Clause
//
// What an AETH syndrome means to a requester. Every credit code acknowledges.
// A reserved syndrome (bit 7 set, type 10, NAK codes without a meaning for RC)
// is neither: such a response is to be ignored.

`default_nettype none

module aeth_decoder
  import roceproof_dut_pkg::*;
(
  input  wire logic [7:0] syndrome_i,
  output logic            ack_o,      // acknowledges its own PSN too
  output logic            nak_o,      // ends the QP with status_o at its PSN
  output status_e         status_o
);

  always_comb begin
    ack_o    = 1'b0;
    nak_o    = 1'b1;
    status_o = StatusSuccess;
    casez (syndrome_i)
      8'b000?_????: begin
        ack_o = 1'b1;
        nak_o = 1'b0;
      end
      8'b001?_????: status_o = StatusRnrRetryExc;
      8'h60:        status_o = StatusRetryExcErr;
      8'h61:        status_o = StatusRemInvReqErr;
      8'h62:        status_o = StatusRemAccessErr;
      8'h63:        status_o = StatusRemOpErr;
      default:      nak_o = 1'b0;
    endcase
  end

endmodule

`default_nettype wire
