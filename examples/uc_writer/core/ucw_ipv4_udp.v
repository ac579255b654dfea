// SPDX-License-Identifier: BSD-2-Clause
//
// Puts an IPv4 and a UDP header in front of each packet. The lengths count
// the ICRC, which a later stage appends.

module ucw_ipv4_udp (
    input  wire        clk,
    input  wire        rst,

    input  wire [15:0] payload_bytes,  // of the packet that s_* offers, without ICRC
    input  wire [7:0]  tos,
    input  wire [7:0]  ttl,
    input  wire [15:0] id,
    input  wire [31:0] src_ip,
    input  wire [31:0] dst_ip,
    input  wire [15:0] sport,

    input  wire [31:0] s_data,
    input  wire        s_valid,
    input  wire        s_last,
    output wire        s_ready,

    output reg  [31:0] m_data,
    output wire        m_valid,
    output wire        m_last,
    input  wire        m_ready
);

    localparam [15:0] ROCE_PORT = 16'd4791;
    localparam [2:0]  BODY = 3'd7;

    reg [2:0] step;

    wire [15:0] udp_length = payload_bytes + 16'd12;
    wire [15:0] ip_length  = udp_length + 16'd20;

    wire [19:0] sum = {4'd0, 8'h45, tos} + {4'd0, ip_length} + {4'd0, id} + 20'h04000
                    + {4'd0, ttl, 8'd17} + {4'd0, src_ip[31:16]} + {4'd0, src_ip[15:0]}
                    + {4'd0, dst_ip[31:16]} + {4'd0, dst_ip[15:0]};
    wire [16:0] fold = {1'b0, sum[15:0]} + {13'd0, sum[19:16]};
    wire [15:0] checksum = ~(fold[15:0] + {15'd0, fold[16]});

    always @* begin
        case (step)
            3'd0: m_data = {8'h45, tos, ip_length};
            3'd1: m_data = {id, 16'h4000};
            3'd2: m_data = {ttl, 8'd17, checksum};
            3'd3: m_data = src_ip;
            3'd4: m_data = dst_ip;
            3'd5: m_data = {sport, ROCE_PORT};
            3'd6: m_data = {udp_length, 16'd0};
            3'd7: m_data = s_data;
        endcase
    end

    assign m_valid = s_valid;
    assign m_last  = step == BODY && s_last;
    assign s_ready = step == BODY && m_ready;

    always @(posedge clk) begin
        if (rst) begin
            step <= 3'd0;
        end else if (m_valid & m_ready) begin
            if (m_last)            step <= 3'd0;
            else if (step != BODY) step <= step + 3'd1;
        end
    end

endmodule
