// SPDX-License-Identifier: BSD-2-Clause
//
// What is known of a queue pair that asks for data, what it learns from the transmit
// half, and what becomes of a response.

`ifndef READS_PKG_SV
`define READS_PKG_SV

package reads_pkg;

  // What a queue pair was told.
  typedef struct packed {
    logic         active;      // RC
    logic [23:0]  local_qpn;
    logic [127:0] remote_gid;  // as kept_gid has it
    logic [2:0]   path_mtu;    // IBA encoding
    logic [15:0]  pd;
  } asker_t;

  typedef logic [10:0] index_t;  // of a queue pair

  // What happens in the transmit half that those who take in answers must know.
  typedef struct packed {
    logic                     configures;  // config_i takes effect
    logic                     fails;       // the queue pair at failed_index
    index_t                   failed_index;
    logic                     departs;     // a request on RC
    logic                     departs_asking;  // that of a READ or an atomic
    index_t                   departed_index;
    logic                     owed;        // a frame has left, and it is not yet said whose
    logic                     asks;        // a READ or an atomic begins
    roce_tx_pkg::asked_t      asked;
    index_t                   ask_index;   // whose room for one more is asked for at all times
    logic [4:0]               ask_limit;
    logic                     asks_rest;   // of a READ that is answered in part
    index_t                   rest_index;
  } event_t;

  // What becomes of one response.
  typedef struct packed {
    logic                passes;    // to the ACK tracker
    roce_pkg::response_t response;
    roce_tx_pkg::fault_t fault;
    logic                writes;    // its data, to memory
    logic                advances;  // one more response of the oldest READ or atomic has come
    logic                ends;      // which was its last
  } verdict_t;

endpackage

`endif
