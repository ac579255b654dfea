// SPDX-License-Identifier: BSD-2-Clause
// A variable of a static function has one value for all calls.
module static_variable;
  function int calls();
    int n;
    n = n + 1;
    return n;
  endfunction

  int first, second;

  initial begin
    first  = calls();
    second = calls();
    if (first == 1 && second == 2) $display("as due");
    else $display("deviates: %0d and %0d, due 1 and 2", first, second);
    $finish;
  end
endmodule
