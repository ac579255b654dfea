// SPDX-License-Identifier: BSD-2-Clause
//
// A small RoCEv2 transmitter: RDMA WRITE over UC, two QPs, one message at a
// time. A register bus commands it (ucw_regs), payload comes as 32-bit words,
// first byte on top, and Ethernet frames without preamble and FCS go out the
// same way. Received frames are looked at for ARP and ping only.

module uc_writer (
    input  wire        clk,
    input  wire        rst,

    input  wire        bus_we,
    input  wire [4:0]  bus_addr,
    input  wire [31:0] bus_wdata,
    output wire [31:0] bus_rdata,

    input  wire [31:0] s_axis_tdata,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,

    output wire [31:0] m_axis_tdata,
    output wire [3:0]  m_axis_tkeep,  // bit 3 is the first byte
    output wire        m_axis_tvalid,
    output wire        m_axis_tlast,
    input  wire        m_axis_tready,

    input  wire [31:0] rx_data,
    input  wire [3:0]  rx_keep,
    input  wire        rx_valid,
    input  wire        rx_last,
    input  wire        rx_bad
);

    wire [47:0] mac, qp_mac;
    wire [31:0] ip, qp_ip, rkey, length, imm;
    wire [63:0] va;
    wire [15:0] qp_sport, id, packet_bytes;
    wire [7:0]  qp_tos, qp_ttl;
    wire [2:0]  qp_mtu;
    wire [23:0] qp_qpn, psn;
    wire        go, go_qp, go_imm, go_solicited, packet_done;
    wire        message_busy, icrc_busy, ethernet_busy;

    ucw_regs u_regs (
        .clk(clk), .rst(rst),
        .bus_we(bus_we), .bus_addr(bus_addr), .bus_wdata(bus_wdata), .bus_rdata(bus_rdata),
        .mac(mac), .ip(ip),
        .busy(message_busy | icrc_busy | ethernet_busy),
        .go(go), .go_qp(go_qp), .go_imm(go_imm), .go_solicited(go_solicited),
        .va(va), .rkey(rkey), .length(length), .imm(imm),
        .qp_mac(qp_mac), .qp_ip(qp_ip), .qp_sport(qp_sport), .qp_tos(qp_tos), .qp_ttl(qp_ttl),
        .qp_mtu(qp_mtu), .qp_qpn(qp_qpn)
    );

    wire qp_write = bus_we & bus_addr[4];

    ucw_counters u_counters (
        .clk(clk),
        .load_psn(qp_write && bus_addr[2:0] == 3'd5), .load_id(qp_write && bus_addr[2:0] == 3'd6),
        .load_qp(bus_addr[3]), .load_value(bus_wdata[23:0]),
        .qp(go_qp), .advance(packet_done), .psn(psn), .id(id)
    );

    wire [31:0] t_data, n_data, c_data, e_data, a_data, p_data;
    wire [3:0]  e_keep, p_keep;
    wire        t_valid, t_last, t_ready;
    wire        n_valid, n_last, n_ready;
    wire        c_valid, c_last, c_ready;
    wire        e_valid, e_last, e_ready;
    wire        a_valid, a_last, a_ready;
    wire        p_valid, p_last, p_ready;

    ucw_message u_message (
        .clk(clk), .rst(rst),
        .go(go), .with_imm(go_imm), .solicited(go_solicited),
        .length(length), .va(va), .rkey(rkey), .imm(imm),
        .mtu_code(qp_mtu), .qpn(qp_qpn), .psn(psn),
        .busy(message_busy), .packet_done(packet_done), .packet_bytes(packet_bytes),
        .s_data(s_axis_tdata), .s_valid(s_axis_tvalid), .s_ready(s_axis_tready),
        .m_data(t_data), .m_valid(t_valid), .m_last(t_last), .m_ready(t_ready)
    );

    ucw_ipv4_udp u_ipv4_udp (
        .clk(clk), .rst(rst),
        .payload_bytes(packet_bytes), .tos(qp_tos), .ttl(qp_ttl), .id(id),
        .src_ip(ip), .dst_ip(qp_ip), .sport(qp_sport),
        .s_data(t_data), .s_valid(t_valid), .s_last(t_last), .s_ready(t_ready),
        .m_data(n_data), .m_valid(n_valid), .m_last(n_last), .m_ready(n_ready)
    );

    ucw_icrc u_icrc (
        .clk(clk), .rst(rst), .busy(icrc_busy),
        .s_data(n_data), .s_valid(n_valid), .s_last(n_last), .s_ready(n_ready),
        .m_data(c_data), .m_valid(c_valid), .m_last(c_last), .m_ready(c_ready)
    );

    ucw_ethernet u_ethernet (
        .clk(clk), .rst(rst), .busy(ethernet_busy),
        .dst_mac(qp_mac), .src_mac(mac),
        .s_data(c_data), .s_valid(c_valid), .s_last(c_last), .s_ready(c_ready),
        .m_data(e_data), .m_keep(e_keep), .m_valid(e_valid), .m_last(e_last), .m_ready(e_ready)
    );

    ucw_arp u_arp (
        .clk(clk), .rst(rst), .mac(mac), .ip(ip),
        .rx_data(rx_data), .rx_valid(rx_valid), .rx_last(rx_last), .rx_bad(rx_bad),
        .m_data(a_data), .m_valid(a_valid), .m_last(a_last), .m_ready(a_ready)
    );

    ucw_ping u_ping (
        .clk(clk), .rst(rst), .mac(mac), .ip(ip),
        .rx_data(rx_data), .rx_keep(rx_keep), .rx_valid(rx_valid), .rx_last(rx_last),
        .rx_bad(rx_bad),
        .m_data(p_data), .m_keep(p_keep), .m_valid(p_valid), .m_last(p_last), .m_ready(p_ready)
    );

    ucw_mux u_mux (
        .clk(clk), .rst(rst),
        .s_data({e_data, p_data, a_data}), .s_keep({e_keep, p_keep, 4'b1111}),
        .s_valid({e_valid, p_valid, a_valid}), .s_last({e_last, p_last, a_last}),
        .s_ready({e_ready, p_ready, a_ready}),
        .m_data(m_axis_tdata), .m_keep(m_axis_tkeep), .m_valid(m_axis_tvalid),
        .m_last(m_axis_tlast), .m_ready(m_axis_tready)
    );

endmodule
