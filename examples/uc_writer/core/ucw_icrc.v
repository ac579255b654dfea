// SPDX-License-Identifier: BSD-2-Clause
//
// Appends the ICRC to each IP packet that passes.

module ucw_icrc (
    input  wire        clk,
    input  wire        rst,
    output wire        busy,

    input  wire [31:0] s_data,
    input  wire        s_valid,
    input  wire        s_last,
    output wire        s_ready,

    output wire [31:0] m_data,
    output wire        m_valid,
    output wire        m_last,
    input  wire        m_ready
);

    // The register after the eight bytes of ones that stand for a missing LRH.
    localparam [31:0] SEED = 32'hDEBB20E3;

    reg [31:0] crc;
    reg [3:0]  index;
    reg        append;

    wire [31:0] ones, next;

    ucw_icrc_mask u_mask (.index(index), .ones(ones));
    ucw_crc32     u_crc  (.crc(crc), .data(s_data | ones), .next(next));

    // Least significant byte first.
    wire [31:0] field = ~{crc[7:0], crc[15:8], crc[23:16], crc[31:24]};

    assign busy    = append;
    assign s_ready = ~append & m_ready;
    assign m_valid = append | s_valid;
    assign m_data  = append ? field : s_data;
    assign m_last  = append;

    always @(posedge clk) begin
        if (rst || (append && m_ready)) begin
            crc    <= SEED;
            index  <= 4'd0;
            append <= 1'b0;
        end else if (s_valid & s_ready) begin
            crc    <= next;
            index  <= (index == 4'd15) ? index : index + 4'd1;
            append <= s_last;
        end
    end

endmodule
