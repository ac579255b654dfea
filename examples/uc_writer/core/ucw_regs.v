// SPDX-License-Identifier: BSD-2-Clause
//
// Register file on a 32-bit bus, addressed in words. Writing GO starts one
// RDMA WRITE; the fields of the command and of its QP hold still until STATUS
// reads 0 again.
//
//   00 MAC_HI  01 MAC_LO  02 IP_ADDR  03 STATUS (read only: bit 0 busy)
//   08 VA_HI   09 VA_LO   0A RKEY     0B LENGTH  0C IMM
//   0D GO      bit 0 QP, bit 1 with immediate, bit 2 solicited event
//   10 + 8 * QP:  +0 DST_MAC_HI  +1 DST_MAC_LO  +2 DST_IP
//                 +3 UDP source port, TOS, TTL   +4 path MTU code, destination QPN
//                 +5 PSN and +6 IP_ID (counters of ucw_counters)

module ucw_regs (
    input  wire        clk,
    input  wire        rst,

    input  wire        bus_we,
    input  wire [4:0]  bus_addr,
    input  wire [31:0] bus_wdata,
    output wire [31:0] bus_rdata,

    output reg  [47:0] mac,
    output reg  [31:0] ip,

    input  wire        busy,
    output reg         go,
    output reg         go_qp,
    output reg         go_imm,
    output reg         go_solicited,
    output reg  [63:0] va,
    output reg  [31:0] rkey,
    output reg  [31:0] length,
    output reg  [31:0] imm,

    output wire [47:0] qp_mac,
    output wire [31:0] qp_ip,
    output wire [15:0] qp_sport,
    output wire [7:0]  qp_tos,
    output wire [7:0]  qp_ttl,
    output wire [2:0]  qp_mtu,
    output wire [23:0] qp_qpn
);

    reg [47:0] bank_mac  [0:1];
    reg [31:0] bank_ip   [0:1];
    reg [31:0] bank_net  [0:1];
    reg [26:0] bank_dest [0:1];

    wire sel = bus_addr[3];

    assign qp_mac   = bank_mac[go_qp];
    assign qp_ip    = bank_ip[go_qp];
    assign qp_sport = bank_net[go_qp][31:16];
    assign qp_tos   = bank_net[go_qp][15:8];
    assign qp_ttl   = bank_net[go_qp][7:0];
    assign qp_mtu   = bank_dest[go_qp][26:24];
    assign qp_qpn   = bank_dest[go_qp][23:0];

    assign bus_rdata = (bus_addr == 5'h03) ? {31'd0, busy | go} : 32'd0;

    always @(posedge clk) begin
        go <= !rst && bus_we && bus_addr == 5'h0D;
        if (bus_we) begin
            casez (bus_addr)
                5'h00: mac[47:32] <= bus_wdata[15:0];
                5'h01: mac[31:0]  <= bus_wdata;
                5'h02: ip         <= bus_wdata;
                5'h08: va[63:32]  <= bus_wdata;
                5'h09: va[31:0]   <= bus_wdata;
                5'h0A: rkey       <= bus_wdata;
                5'h0B: length     <= bus_wdata;
                5'h0C: imm        <= bus_wdata;
                5'h0D: {go_solicited, go_imm, go_qp} <= bus_wdata[2:0];
                5'b1?000: bank_mac[sel][47:32] <= bus_wdata[15:0];
                5'b1?001: bank_mac[sel][31:0]  <= bus_wdata;
                5'b1?010: bank_ip[sel]         <= bus_wdata;
                5'b1?011: bank_net[sel]        <= bus_wdata;
                5'b1?100: bank_dest[sel]       <= bus_wdata[26:0];
                default: ;
            endcase
        end
    end

endmodule
