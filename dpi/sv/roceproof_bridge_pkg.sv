// SPDX-License-Identifier: BSD-2-Clause
//
// The DPI edge of the bridge: every function the test bench calls in C, and
// the types they share. docs/bridge.md says what each call promises.
//
// Bytes cross in chunks of 1024 bits whatever the stream width, byte 0 in the
// low bits. Records cross as opaque vectors whose last byte is in the low bits.

`default_nettype none

package roceproof_bridge_pkg;

  localparam int unsigned ChunkBytes = 128;

  typedef bit [8*ChunkBytes-1:0] chunk_t;

  // Rising clock edges since reset.
  typedef logic [63:0] cycle_t;

  // Streams as the C side numbers them; also the bit of a stream in wake_t.
  localparam int StreamRx         = 0;
  localparam int StreamPayload    = 1;
  localparam int StreamQpc        = 2;
  localparam int StreamWr         = 3;
  localparam int StreamTx         = 4;
  localparam int StreamCompletion = 5;
  localparam int Streams          = 6;

  // Those of the contract's second version.
  localparam int StreamRegion            = 6;
  localparam int StreamReceive           = 7;
  localparam int StreamReceiveCompletion = 8;
  localparam int StreamConnection        = 9;
  localparam int AllStreams              = 10;

  // Those of memory, which C knows nothing of: each has its own disturbance.
  localparam int StreamMemoryWrite     = 10;
  localparam int StreamMemoryWriteData = 11;
  localparam int StreamMemoryRead      = 12;
  localparam int StreamMemoryReadData  = 13;
  localparam int StreamMemoryDone      = 14;

  typedef logic [AllStreams-1:0] wake_t;

  // A bit for each stream that is watched.
  typedef logic [Streams-1:0] set_t;

  // Chance in percent that a stream pauses in a cycle, one byte for each of the
  // first streams, one for commands and writes to memory, one for reads,
  // one for the ends of writes.
  localparam int FlowMemoryStall = 6;
  localparam int FlowMemoryGap   = 7;
  localparam int FlowMemoryLag   = 8;
  localparam int Flows           = 9;

  typedef logic [Flows-1:0][7:0] flow_t;

  // What a memory_command_t says, and the most bytes that it may say.
  typedef struct packed {
    logic [63:0] address;
    logic [31:0] length;
    logic [15:0] tag;
    logic [15:0] reserved;
  } command_t;

  localparam logic [31:0] MostBytes = 32'h8000_0000;

  // What is seen on each stream in a cycle.
  typedef struct packed {
    set_t amid;    // a frame or message has begun and not ended
    set_t ready;
    set_t valid;
  } signals_t;

  // What describes a chunk, in either direction.
  typedef struct packed {
    bit [11:0] reserved;
    bit        early;    // tuser of its beats before the last
    bit        valid;    // 0: the stream has nothing to give
    bit        discard;  // tuser of the frame's last beat
    bit        last;     // the chunk ends the frame or message
    bit [7:0]  stop;     // one past the last byte that counts
    bit [7:0]  first;    // first byte that counts
  } chunk_info_t;

  // What a put answers.
  typedef struct packed {
    bit [29:0] reserved;
    bit        full;  // take nothing more on this stream before its next wake
    bit        poll;  // poll before the next clock edge
  } put_answer_t;

  localparam int unsigned PortLimit = 16;

  // SystemVerilog has no chandle ports, so the simulation's session and its
  // ports are shared here. roceproof_top opens them before the first clock edge.
  chandle session;
  chandle port[PortLimit];

  import "DPI-C" function chandle roceproof_session_open(
    input string control, input int ports, input int data_width, input longint clock_ps);
  // Cycles until the next poll is due; 0: the host wants the end; -1: an error waits.
  // In it C may look through the backdoors of the ports.
  import "DPI-C" context function longint roceproof_session_poll(
    input chandle session, input longint cycle);
  import "DPI-C" function string roceproof_session_error(input chandle session);
  import "DPI-C" function void roceproof_session_close(
    input chandle session, input longint cycle);

  import "DPI-C" function chandle roceproof_port_open(input chandle session, input int index);
  import "DPI-C" function void roceproof_port_identity(
    input chandle handle, output bit [47:0] mac, output bit [127:0] gid, output bit [63:0] seed);
  import "DPI-C" function int roceproof_port_wake(
    input chandle handle, output bit [71:0] flow);
  // For so many cycles the port is to be reset, from the next clock edge on; 0: it is not.
  import "DPI-C" function int roceproof_port_reset(
    input chandle handle);
  // What has moved on each stream, the cycle of the last of it, and a signals_t.
  import "DPI-C" function void roceproof_port_watched(
    input chandle handle, input bit [383:0] beats, input bit [383:0] moved, input int signals);

  // Returns a chunk_info_t. The call also says that the chunk before was taken.
  import "DPI-C" function int roceproof_get_chunk(
    input chandle handle, input int stream, input longint cycle, output bit [1023:0] data);
  // Returns 1 with a record in the low bits, or 0. The call also says that the record before was taken.
  import "DPI-C" function int roceproof_get_record(
    input chandle handle, input int stream, input longint cycle, output bit [511:0] record);
  // The QP configuration on offer was not taken in its first cycle.
  import "DPI-C" function void roceproof_qpc_waits(
    input chandle handle, input longint cycle);
  // Both return a put_answer_t; a record is in the low bits.
  import "DPI-C" function int roceproof_put_chunk(
    input chandle handle, input longint cycle, input bit [1023:0] data, input int info);
  import "DPI-C" function int roceproof_put_record(
    input chandle handle, input int stream, input longint cycle, input bit [255:0] record);
  // Up to ChunkBytes into the memory behind the device's memory ports.
  import "DPI-C" function void roceproof_memory_write(
    input chandle handle, input longint address, input bit [1023:0] data, input int length);
  // And from there; bytes behind the length are zero.
  import "DPI-C" function void roceproof_memory_read(
    input chandle handle, input longint address, output bit [1023:0] data, input int length);

endpackage

`default_nettype wire
