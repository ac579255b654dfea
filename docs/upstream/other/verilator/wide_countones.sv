// SPDX-License-Identifier: BSD-2-Clause
// $countones has 32 bits, and a wider place takes it as a number that is never negative.
module wide_countones;
  logic [15:0] ones;
  logic [39:0] wide;

  assign wide = 40'($countones(ones));

  initial begin
    ones = '1;
    #1 if (wide == 16) $display("as due");
    else $display("deviates: %0d, due 16", wide);
    $finish;
  end
endmodule
