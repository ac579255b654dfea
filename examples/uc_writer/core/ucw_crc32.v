// SPDX-License-Identifier: BSD-2-Clause
//
// One word more into a CRC-32 (Ethernet's, reflected): eight look-ups of a
// table for four bits.

module ucw_crc32 (
    input  wire [31:0] crc,
    input  wire [31:0] data,  // first byte on top
    output wire [31:0] next
);

    function [31:0] table_of;
        input [3:0] nibble;
        case (nibble)
            4'h0: table_of = 32'h00000000;
            4'h1: table_of = 32'h1DB71064;
            4'h2: table_of = 32'h3B6E20C8;
            4'h3: table_of = 32'h26D930AC;
            4'h4: table_of = 32'h76DC4190;
            4'h5: table_of = 32'h6B6B51F4;
            4'h6: table_of = 32'h4DB26158;
            4'h7: table_of = 32'h5005713C;
            4'h8: table_of = 32'hEDB88320;
            4'h9: table_of = 32'hF00F9344;
            4'hA: table_of = 32'hD6D6A3E8;
            4'hB: table_of = 32'hCB61B38C;
            4'hC: table_of = 32'h9B64C2B0;
            4'hD: table_of = 32'h86D3D2D4;
            4'hE: table_of = 32'hA00AE278;
            4'hF: table_of = 32'hBDBDF21C;
        endcase
    endfunction

    function [31:0] word_into;
        input [31:0] start;
        integer i;
        begin
            word_into = start;
            for (i = 0; i < 8; i = i + 1)
                word_into = {4'd0, word_into[31:4]} ^ table_of(word_into[3:0]);
        end
    endfunction

    assign next = word_into(crc ^ {data[7:0], data[15:8], data[23:16], data[31:24]});

endmodule
