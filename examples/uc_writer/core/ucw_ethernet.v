// SPDX-License-Identifier: BSD-2-Clause
//
// Puts the 14-byte MAC header in front of each IP packet, which moves all
// behind it by half a word. An IP packet is whole words here, and none is so
// short that its frame would need padding.

module ucw_ethernet (
    input  wire        clk,
    input  wire        rst,
    output wire        busy,

    input  wire [47:0] dst_mac,
    input  wire [47:0] src_mac,

    input  wire [31:0] s_data,
    input  wire        s_valid,
    input  wire        s_last,
    output wire        s_ready,

    output reg  [31:0] m_data,
    output wire [3:0]  m_keep,  // bit 3 is the first byte
    output wire        m_valid,
    output wire        m_last,
    input  wire        m_ready
);

    localparam [2:0] BODY = 3'd3, TAIL = 3'd4;

    reg [2:0]  step;
    reg [15:0] half;

    always @* begin
        case (step)
            3'd0:    m_data = dst_mac[47:16];
            3'd1:    m_data = {dst_mac[15:0], src_mac[47:32]};
            3'd2:    m_data = src_mac[31:0];
            BODY:    m_data = {half, s_data[31:16]};
            default: m_data = {half, 16'd0};
        endcase
    end

    assign busy    = step == TAIL;
    assign m_valid = s_valid | busy;
    assign m_last  = busy;
    assign m_keep  = busy ? 4'b1100 : 4'b1111;
    assign s_ready = step == BODY && m_ready;

    always @(posedge clk) begin
        if (rst) begin
            step <= 3'd0;
            half <= 16'h0800;
        end else if (m_valid & m_ready) begin
            case (step)
                BODY: begin
                    half <= s_data[15:0];
                    if (s_last) step <= TAIL;
                end
                TAIL: begin
                    half <= 16'h0800;
                    step <= 3'd0;
                end
                default: step <= step + 3'd1;
            endcase
        end
    end

endmodule
