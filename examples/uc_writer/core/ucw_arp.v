// SPDX-License-Identifier: BSD-2-Clause
//
// Answers ARP requests for the port's address, one at a time.

module ucw_arp (
    input  wire        clk,
    input  wire        rst,
    input  wire [47:0] mac,
    input  wire [31:0] ip,

    input  wire [31:0] rx_data,
    input  wire        rx_valid,
    input  wire        rx_last,
    input  wire        rx_bad,

    output reg  [31:0] m_data,
    output reg         m_valid,
    output wire        m_last,
    input  wire        m_ready
);

    localparam [3:0] LAST = 4'd14;

    reg [3:0]  index, step;
    reg        listen, unicast, wrong;
    reg [47:0] asker_mac;
    reg [31:0] asker_ip;
    reg        differs;

    always @* begin
        case (index)
            4'd0:    differs = rx_data != mac[47:16] && rx_data != 32'hFFFFFFFF;
            4'd1:    differs = rx_data[31:16] != (unicast ? mac[15:0] : 16'hFFFF);
            4'd3:    differs = rx_data != 32'h08060001;
            4'd4:    differs = rx_data != 32'h08000604;
            4'd5:    differs = rx_data[31:16] != 16'h0001;
            4'd9:    differs = rx_data[15:0] != ip[31:16];
            4'd10:   differs = rx_data[31:16] != ip[15:0];
            default: differs = 1'b0;
        endcase
        case (step)
            4'd0:    m_data = asker_mac[47:16];
            4'd1:    m_data = {asker_mac[15:0], mac[47:32]};
            4'd2:    m_data = mac[31:0];
            4'd3:    m_data = 32'h08060001;
            4'd4:    m_data = 32'h08000604;
            4'd5:    m_data = {16'h0002, mac[47:32]};
            4'd6:    m_data = mac[31:0];
            4'd7:    m_data = ip;
            4'd8:    m_data = asker_mac[47:16];
            4'd9:    m_data = {asker_mac[15:0], asker_ip[31:16]};
            4'd10:   m_data = {asker_ip[15:0], 16'd0};
            default: m_data = 32'd0;
        endcase
    end

    assign m_last = step == LAST;

    wire asked = rx_valid && rx_last && listen && !wrong && !rx_bad && index >= 4'd11;

    always @(posedge clk) begin
        if (rst) begin
            index   <= 4'd0;
            m_valid <= 1'b0;
        end else begin
            if (rx_valid) begin
                index <= rx_last ? 4'd0 : (index == 4'd15) ? index : index + 4'd1;
                wrong <= differs || (wrong && index != 4'd0);
                if (index == 4'd0) begin
                    listen  <= !m_valid;
                    unicast <= rx_data == mac[47:16];
                end
                if (listen) begin
                    case (index)
                        4'd5:    asker_mac[47:32] <= rx_data[15:0];
                        4'd6:    asker_mac[31:0]  <= rx_data;
                        4'd7:    asker_ip         <= rx_data;
                        default: ;
                    endcase
                end
            end
            if (asked) begin
                m_valid <= 1'b1;
                step    <= 4'd0;
            end else if (m_valid && m_ready) begin
                m_valid <= !m_last;
                step    <= step + 4'd1;
            end
        end
    end

endmodule
