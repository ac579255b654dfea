// SPDX-License-Identifier: BSD-2-Clause
//
// Answers ICMP echo requests, one at a time: keeps the request in a buffer and
// sends it back with its addresses swapped, TTL 64 and both checksums amended.

module ucw_ping (
    input  wire        clk,
    input  wire        rst,
    input  wire [47:0] mac,
    input  wire [31:0] ip,

    input  wire [31:0] rx_data,
    input  wire [3:0]  rx_keep,  // bit 3 is the first byte
    input  wire        rx_valid,
    input  wire        rx_last,
    input  wire        rx_bad,

    output wire [31:0] m_data,
    output wire [3:0]  m_keep,
    output reg         m_valid,
    output wire        m_last,
    input  wire        m_ready
);

    localparam [11:0] WORDS = 12'd2304;  // the longest frame: 9216 bytes

    // One's complement: what leaves a header is added to its checksum, and a carry at the low end.
    function [15:0] add1;
        input [15:0] a, b;
        add1 = a + b + {15'd0, a > ~b};
    endfunction

    // The request: each word is checked as it passes.
    reg [31:0] buffer [0:2303];
    reg [11:0] index;
    reg        listen, wrong, differs;
    reg [15:0] sum;
    reg [47:0] asker_mac;
    reg [31:0] asker_ip;
    reg [15:0] total, time_proto, ip_checksum, icmp_checksum;

    always @* begin
        case (index)
            12'd0:   differs = rx_data != mac[47:16];
            12'd1:   differs = rx_data[31:16] != mac[15:0];
            12'd3:   differs = rx_data[31:8] != 24'h080045;
            12'd4:   differs = rx_data[31:16] < 16'd28;
            12'd5:   differs = (rx_data & 32'h3FFF00FF) != 32'd1;
            12'd7:   differs = rx_data[15:0] != ip[31:16];
            12'd8:   differs = rx_data != {ip[15:0], 16'h0800};
            default: differs = 1'b0;
        endcase
    end

    wire [13:0] rx_bytes = {index, 2'd0} + {13'd0, rx_keep[3]} + {13'd0, rx_keep[2]}
                         + {13'd0, rx_keep[1]} + {13'd0, rx_keep[0]};
    wire [16:0] end_of_ip = {1'b0, total} + 17'd14;

    wire asked = rx_valid && rx_last && listen && !wrong && !rx_bad && index >= 12'd9
              && index < WORDS && {3'd0, rx_bytes} >= end_of_ip && sum == 16'hFFFF;

    // The reply: a word of the buffer, or one made anew.
    reg         sending;
    reg  [11:0] fetch, step;
    reg  [31:0] stored, word;

    wire [13:0] bytes     = (end_of_ip < 17'd60) ? 14'd60 : end_of_ip[13:0];
    wire [13:0] last_byte = bytes - 14'd1;
    wire        advance   = sending && (!m_valid || m_ready);

    always @* begin
        case (step)
            12'd0:   word = asker_mac[47:16];
            12'd1:   word = {asker_mac[15:0], mac[47:32]};
            12'd2:   word = mac[31:0];
            12'd5:   word = {stored[31:16], 16'h4001};
            12'd6:   word = {add1(ip_checksum, add1(time_proto, ~16'h4001)), ip[31:16]};
            12'd7:   word = {ip[15:0], asker_ip[31:16]};
            12'd8:   word = {asker_ip[15:0], 16'h0000};
            12'd9:   word = {add1(icmp_checksum, 16'h0800), stored[15:0]};
            default: word = stored;
        endcase
    end

    wire [3:0] kept = {{3'd0, step, 2'd0} < end_of_ip, {3'd0, step, 2'd1} < end_of_ip,
                         {3'd0, step, 2'd2} < end_of_ip, {3'd0, step, 2'd3} < end_of_ip};

    assign m_data = word & {{8{kept[3]}}, {8{kept[2]}}, {8{kept[1]}}, {8{kept[0]}}};
    assign m_last = step == last_byte[13:2];
    assign m_keep = m_last ? ~(4'b0111 >> last_byte[1:0]) : 4'b1111;

    always @(posedge clk) begin
        if (rx_valid && listen && index < WORDS) buffer[index] <= rx_data;
        if (advance) stored <= buffer[fetch];
    end

    always @(posedge clk) begin
        if (rst) begin
            index   <= 12'd0;
            sending <= 1'b0;
            m_valid <= 1'b0;
        end else begin
            if (rx_valid) begin
                index <= rx_last ? 12'd0 : (index == WORDS) ? index : index + 12'd1;
                wrong <= differs || (wrong && index != 12'd0);
                if (index == 12'd0) listen <= !sending;
                if (listen) begin
                    case (index)
                        12'd1:   asker_mac[47:32] <= rx_data[15:0];
                        12'd2:   asker_mac[31:0]  <= rx_data;
                        12'd3:   sum              <= rx_data[15:0];
                        12'd8:   sum              <= add1(sum, rx_data[31:16]);
                        12'd9:   icmp_checksum    <= rx_data[31:16];
                        default: ;
                    endcase
                    if (index >= 12'd4 && index <= 12'd7)
                        sum <= add1(sum, add1(rx_data[31:16], rx_data[15:0]));
                    if (index == 12'd4) total      <= rx_data[31:16];
                    if (index == 12'd5) time_proto <= rx_data[15:0];
                    if (index == 12'd6) {ip_checksum, asker_ip[31:16]} <= rx_data;
                    if (index == 12'd7) asker_ip[15:0] <= rx_data[31:16];
                end
            end
            if (asked) begin
                sending <= 1'b1;
                fetch   <= 12'd0;
            end else if (m_valid && m_ready && m_last) begin
                sending <= 1'b0;
                m_valid <= 1'b0;
            end else if (advance) begin
                m_valid <= 1'b1;
                step    <= fetch;
                fetch   <= fetch + 12'd1;
            end
        end
    end

endmodule
