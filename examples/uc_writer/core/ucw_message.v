// SPDX-License-Identifier: BSD-2-Clause
//
// Cuts one RDMA WRITE into packets: transport headers and payload of each
// leave as 32-bit words, most significant byte first. Bytes of the last
// payload word behind the message's end leave as zeros.

module ucw_message (
    input  wire        clk,
    input  wire        rst,

    input  wire        go,
    input  wire        with_imm,
    input  wire        solicited,
    input  wire [31:0] length,
    input  wire [63:0] va,
    input  wire [31:0] rkey,
    input  wire [31:0] imm,
    input  wire [2:0]  mtu_code,
    input  wire [23:0] qpn,
    input  wire [23:0] psn,
    output reg         busy,
    output wire        packet_done,
    output wire [15:0] packet_bytes,  // transport headers, payload and pad

    input  wire [31:0] s_data,
    input  wire        s_valid,
    output wire        s_ready,

    output reg  [31:0] m_data,
    output wire        m_valid,
    output wire        m_last,
    input  wire        m_ready
);

    localparam [3:0] BTH_0 = 4'd0, BTH_2 = 4'd2, RETH_0 = 4'd3, RETH_3 = 4'd6,
                     IMM = 4'd7, PAYLOAD = 4'd8;

    reg        opens;
    reg [31:0] remaining;
    reg [3:0]  step;
    reg [10:0] word;

    wire [12:0] mtu    = 13'd128 << mtu_code;
    wire        closes = remaining <= {19'd0, mtu};
    wire [12:0] bytes  = closes ? remaining[12:0] : mtu;
    wire [10:0] words  = bytes[12:2] + {10'd0, |bytes[1:0]};
    wire        has_imm = with_imm & closes;

    assign packet_bytes = 16'd12 + (opens ? 16'd16 : 16'd0) + (has_imm ? 16'd4 : 16'd0)
                        + {3'd0, words, 2'd0};

    wire [95:0] bth;

    ucw_bth u_bth (
        .opens(opens), .closes(closes), .imm(with_imm), .solicited(solicited),
        .remainder(bytes[1:0]), .qpn(qpn), .psn(psn), .header(bth)
    );

    reg  [3:0] next;

    always @* begin
        case (step)
            BTH_2:   next = opens ? RETH_0 : has_imm ? IMM : PAYLOAD;
            RETH_3:  next = has_imm ? IMM : PAYLOAD;
            PAYLOAD: next = PAYLOAD;
            default: next = step + 4'd1;
        endcase
    end

    wire last_word = word + 11'd1 == words;
    wire in_payload = step == PAYLOAD;

    assign m_last  = in_payload ? last_word : (next == PAYLOAD && words == 11'd0);
    assign m_valid = busy & (~in_payload | s_valid);
    assign s_ready = busy & in_payload & m_ready;

    wire taken = m_valid & m_ready;
    assign packet_done = taken & m_last;

    reg [31:0] tail;

    always @* begin
        case (bytes[1:0])
            2'd0: tail = 32'hFFFFFFFF;
            2'd1: tail = 32'hFF000000;
            2'd2: tail = 32'hFFFF0000;
            2'd3: tail = 32'hFFFFFF00;
        endcase
        case (step)
            4'd0:    m_data = bth[95:64];
            4'd1:    m_data = bth[63:32];
            4'd2:    m_data = bth[31:0];
            4'd3:    m_data = va[63:32];
            4'd4:    m_data = va[31:0];
            4'd5:    m_data = rkey;
            4'd6:    m_data = length;
            4'd7:    m_data = imm;
            default: m_data = last_word ? s_data & tail : s_data;
        endcase
    end

    always @(posedge clk) begin
        if (rst) begin
            busy <= 1'b0;
        end else if (go) begin
            busy      <= 1'b1;
            opens     <= 1'b1;
            remaining <= length;
            step      <= BTH_0;
            word      <= 11'd0;
        end else if (packet_done) begin
            busy      <= ~closes;
            opens     <= 1'b0;
            remaining <= remaining - {19'd0, bytes};
            step      <= BTH_0;
            word      <= 11'd0;
        end else if (taken) begin
            step <= next;
            if (in_payload) word <= word + 11'd1;
        end
    end

endmodule
