// SPDX-License-Identifier: BSD-2-Clause
//
// The base transport header of one UC RDMA WRITE packet.

module ucw_bth (
    input  wire        opens,      // first packet of its message
    input  wire        closes,     // last packet of its message
    input  wire        imm,        // the message carries an immediate
    input  wire        solicited,
    input  wire [1:0]  remainder,  // payload bytes modulo 4
    input  wire [23:0] qpn,
    input  wire [23:0] psn,
    output wire [95:0] header
);

    reg [7:0] opcode;

    always @* begin
        case ({opens, closes, imm})
            3'b100, 3'b101: opcode = 8'h26;  // FIRST
            3'b000, 3'b001: opcode = 8'h27;  // MIDDLE
            3'b010:         opcode = 8'h28;  // LAST
            3'b011:         opcode = 8'h29;  // LAST with immediate
            3'b110:         opcode = 8'h2A;  // ONLY
            3'b111:         opcode = 8'h2B;  // ONLY with immediate
        endcase
    end

    wire       event_bit = solicited & imm & closes;
    wire [1:0] pad       = ~remainder + 2'd1;

    // opcode; SE, MigReq, PadCnt, TVer; P_Key; reserved, QPN; AckReq and reserved, PSN
    assign header = {opcode, event_bit, 1'b1, pad, 4'd0, 16'hFFFF, 8'd0, qpn, 8'd0, psn};

endmodule
