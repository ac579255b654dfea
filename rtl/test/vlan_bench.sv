// SPDX-License-Identifier: BSD-2-Clause
//
// vlan_insert and vlan_remove at one width. Frames of +tag_in= (sideband: whether
// they get a tag, its priority, and ten bits of its VID) must leave as those of
// +tag_out=; those of +untag_in= as +untag_out=, and what is beside the last beat of
// each as +untag_said=, a frame of tuser and the tag, least significant byte first.

`default_nettype none

module vlan_bench
  import roce_pkg::vlan_tag_t;
#(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic clk_i,
  input  wire logic rst_ni,
  output      logic done_o,
  output      int   errors_o
);

  localparam int unsigned MaxFrames = 4096;

  logic [DataWidth-1:0]   plain_tdata, tagged_tdata, got_tdata, bare_tdata;
  logic [DataWidth/8-1:0] plain_tkeep, tagged_tkeep, got_tkeep, bare_tkeep;
  logic                   plain_tvalid, plain_tlast, plain_tready;
  logic                   tagged_tvalid, tagged_tlast, tagged_tready;
  logic                   got_tvalid, got_tlast, got_tuser, got_tready;
  logic                   bare_tvalid, bare_tlast, bare_tuser, bare_tready;
  logic                   inside_q, said_room, said_valid, said_ready;
  logic [13:0]            sideband;
  logic [23:0]            said;
  vlan_tag_t              tag, tag_q, removed;
  logic                   tagged_done, bare_done, said_done;
  int                     tagged_errors, bare_errors, said_errors;

  assign done_o   = tagged_done && bare_done && said_done;
  assign errors_o = tagged_errors + bare_errors + said_errors;

  frame_source #(.DataWidth(DataWidth), .Plusarg("tag_in")) u_plain (
    .clk_i, .rst_ni, .tdata_o(plain_tdata), .tkeep_o(plain_tkeep), .tvalid_o(plain_tvalid),
    .tlast_o(plain_tlast), .tuser_o(), .sideband_o(sideband), .tready_i(plain_tready));

  assign tag = inside_q ? tag_q
                        : '{present: sideband[13], pcp: sideband[12:10], vid: 12'(sideband[9:0])};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
    end else if (plain_tvalid && plain_tready) begin
      inside_q <= !plain_tlast;
      tag_q    <= tag;
    end
  end

  vlan_insert #(.DataWidth(DataWidth)) u_insert (
    .clk_i, .rst_ni,
    .s_tdata_i(plain_tdata), .s_tkeep_i(plain_tkeep), .s_tvalid_i(plain_tvalid),
    .s_tlast_i(plain_tlast), .s_tag_i(tag), .s_mark_i(1'b0), .s_tready_o(plain_tready),
    .m_tdata_o(tagged_tdata), .m_tkeep_o(tagged_tkeep), .m_tvalid_o(tagged_tvalid),
    .m_tlast_o(tagged_tlast), .m_mark_o(), .m_tready_i(tagged_tready));

  frame_sink #(.DataWidth(DataWidth), .Plusarg("tag_out")) u_tagged (
    .clk_i, .rst_ni, .tdata_i(tagged_tdata), .tkeep_i(tagged_tkeep), .tvalid_i(tagged_tvalid),
    .tlast_i(tagged_tlast), .tready_o(tagged_tready), .done_o(tagged_done),
    .errors_o(tagged_errors));

  frame_source #(.DataWidth(DataWidth), .Plusarg("untag_in")) u_got (
    .clk_i, .rst_ni, .tdata_o(got_tdata), .tkeep_o(got_tkeep), .tvalid_o(got_tvalid),
    .tlast_o(got_tlast), .tuser_o(got_tuser), .sideband_o(), .tready_i(got_tready));

  vlan_remove #(.DataWidth(DataWidth)) u_remove (
    .clk_i, .rst_ni,
    .s_tdata_i(got_tdata), .s_tkeep_i(got_tkeep), .s_tvalid_i(got_tvalid),
    .s_tlast_i(got_tlast), .s_tuser_i(got_tuser), .s_tready_o(got_tready),
    .m_tdata_o(bare_tdata), .m_tkeep_o(bare_tkeep), .m_tvalid_o(bare_tvalid),
    .m_tlast_o(bare_tlast), .m_tuser_o(bare_tuser), .m_tag_o(removed),
    .m_tready_i(bare_tready));

  // What waits for the beat behind it may change until that has come.
  logic                   held_valid, held_tlast, held_ready;
  logic [DataWidth-1:0]   held_tdata;
  logic [DataWidth/8-1:0] held_tkeep;
  stream_fifo #(.Width(1 + DataWidth / 8 + DataWidth), .Depth(2)) u_held (
    .clk_i, .rst_ni, .s_data_i({bare_tlast, bare_tkeep, bare_tdata}), .s_valid_i(bare_tvalid),
    .s_ready_o(bare_tready), .m_data_o({held_tlast, held_tkeep, held_tdata}),
    .m_valid_o(held_valid), .m_ready_i(held_ready));

  frame_sink #(.DataWidth(DataWidth), .Plusarg("untag_out")) u_bare (
    .clk_i, .rst_ni, .tdata_i(held_tdata), .tkeep_i(held_tkeep), .tvalid_i(held_valid),
    .tlast_i(held_tlast), .tready_o(held_ready), .done_o(bare_done), .errors_o(bare_errors));

  stream_fifo #(.Width(24), .Depth(MaxFrames)) u_said (
    .clk_i, .rst_ni, .s_data_i({7'd0, bare_tuser, removed}),
    .s_valid_i(bare_tvalid && bare_tready && bare_tlast), .s_ready_o(said_room),
    .m_data_o(said), .m_valid_o(said_valid), .m_ready_i(said_ready));

  frame_sink #(.DataWidth(24), .Plusarg("untag_said")) u_tags (
    .clk_i, .rst_ni, .tdata_i(said), .tkeep_i('1), .tvalid_i(said_valid), .tlast_i(1'b1),
    .tready_o(said_ready), .done_o(said_done), .errors_o(said_errors));

  said_fits: assert property (@(posedge clk_i) disable iff (!rst_ni)
      bare_tvalid && bare_tlast |-> said_room);

  takes_at_once: assert property (@(posedge clk_i) disable iff (!rst_ni)
      bare_tready |-> got_tready) else $error("a beat waited though the one before could go");

endmodule

`default_nettype wire
