// SPDX-License-Identifier: BSD-2-Clause
// A second package of one name is an error to be told, and none to die of.
package shared_pkg;
  localparam int Here = 1;
endpackage

package shared_pkg;
  localparam int There = 2;
endpackage

module two_packages;
  import shared_pkg::*;

  initial begin
    $display("as due: %0d", Here);
    $finish;
  end
endmodule
