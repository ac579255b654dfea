// SPDX-License-Identifier: BSD-2-Clause
//
// Which bits of an IPv4 packet the ICRC takes for ones, word by word from the
// IP header on: those that a router may change, and the BTH's first reserved byte.

module ucw_icrc_mask (
    input  wire [3:0]  index,
    output reg  [31:0] ones
);

    always @* begin
        case (index)
            4'd0:    ones = 32'h00FF0000;  // TOS
            4'd2:    ones = 32'hFF00FFFF;  // TTL, header checksum
            4'd6:    ones = 32'h0000FFFF;  // UDP checksum
            4'd8:    ones = 32'hFF000000;  // FECN, BECN and the bits beside them
            default: ones = 32'h00000000;
        endcase
    end

endmodule
