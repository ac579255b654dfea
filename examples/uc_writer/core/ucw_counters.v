// SPDX-License-Identifier: BSD-2-Clause
//
// What counts per packet and QP: the 24-bit PSN and the IPv4 identification.
// Both are loaded through the bus and move on when a packet has gone.

module ucw_counters (
    input  wire        clk,

    input  wire        load_psn,
    input  wire        load_id,
    input  wire        load_qp,
    input  wire [23:0] load_value,

    input  wire        qp,
    input  wire        advance,
    output wire [23:0] psn,
    output wire [15:0] id
);

    reg [23:0] bank_psn [0:1];
    reg [15:0] bank_id  [0:1];

    assign psn = bank_psn[qp];
    assign id  = bank_id[qp];

    always @(posedge clk) begin
        if (advance) begin
            bank_psn[qp] <= psn + 24'd1;
            bank_id[qp]  <= id + 16'd1;
        end
        if (load_psn) bank_psn[load_qp] <= load_value;
        if (load_id)  bank_id[load_qp]  <= load_value[15:0];
    end

endmodule
