// SPDX-License-Identifier: BSD-2-Clause
//
// What counts per packet and QP, as one memory with a short adder. Part of an
// exercise, see README.md: something in this file is wrong.

module ucw_counters (
    input  wire        clk,
    input  wire        load_psn, load_id, load_qp,
    input  wire [23:0] load_value,
    input  wire        qp, advance,
    output wire [23:0] psn,
    output wire [15:0] id
);

    reg [39:0] bank [0:1];

    assign {psn, id} = bank[qp];

    wire [15:0] next_psn = psn[15:0] + 16'd1;
    wire [15:0] next_id  = id + 16'd1;

    always @(posedge clk) begin
        if (advance)  bank[qp]             <= {psn[23:16], next_psn, next_id};
        if (load_psn) bank[load_qp][39:16] <= load_value;
        if (load_id)  bank[load_qp][15:0]  <= load_value[15:0];
    end

endmodule
