// SPDX-License-Identifier: BSD-2-Clause
//
// Joins three streams of whole frames; the first listed goes first.

module ucw_mux (
    input  wire        clk,
    input  wire        rst,

    input  wire [95:0] s_data,  // stream 0 in the lowest bits, here and below
    input  wire [11:0] s_keep,
    input  wire [2:0]  s_valid,
    input  wire [2:0]  s_last,
    output wire [2:0]  s_ready,

    output reg  [31:0] m_data,
    output reg  [3:0]  m_keep,
    output wire        m_valid,
    output wire        m_last,
    input  wire        m_ready
);

    reg [2:0] owner;  // one bit at most

    always @* begin
        case (owner)
            3'b001:  {m_data, m_keep} = {s_data[31:0], s_keep[3:0]};
            3'b010:  {m_data, m_keep} = {s_data[63:32], s_keep[7:4]};
            default: {m_data, m_keep} = {s_data[95:64], s_keep[11:8]};
        endcase
    end

    assign m_valid = |(s_valid & owner);
    assign m_last  = |(s_last & owner);
    assign s_ready = owner & {3{m_ready}};

    always @(posedge clk) begin
        if (rst || (m_valid && m_ready && m_last)) owner <= 3'b000;
        else if (owner == 3'b000) owner <= s_valid & (~s_valid + 3'd1);
    end

endmodule
