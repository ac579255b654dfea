// SPDX-License-Identifier: BSD-2-Clause
//
// The base transport header, its opcode computed in place of looked up. Part
// of an exercise, see README.md: something in this file is wrong.

module ucw_bth (
    input  wire        opens, closes, imm, solicited,
    input  wire [1:0]  remainder,
    input  wire [23:0] qpn, psn,
    output wire [95:0] header
);

    wire [3:0] kind = closes ? {2'b10, opens, imm} : {3'b011, ~opens};

    assign header = {4'h2, kind, solicited & closes & imm, 1'b1, remainder, 4'd0, 16'hFFFF,
                     8'd0, qpn, 8'd0, psn};

endmodule
