// SPDX-License-Identifier: BSD-2-Clause
// Takes a frame apart as far as it was kept: layers with their fields, each with the bytes it
// stands in. Lengths come from the wire; what runs past the frame ends at its end.

const VLAN_TYPES = new Set([0x8100, 0x88a8, 0x9100]);

// A frame of which the page keeps the head and the last bytes of the packet.
class Frame {
  constructor({ bytes, size, fullSize }) {
    this.kept = bytes;
    this.size = size;
    this.fullSize = fullSize;
    this.whole = bytes.length === size;
    this.head = this.whole ? size : bytes.length - meta.tail_bytes;
    this.tail = size; // where the kept end begins; known once the packet's end is
  }

  byte(at) {
    if (at < this.head) return this.kept[at];
    const place = at - this.tail;
    return place >= 0 && place < meta.tail_bytes && !this.whole ? this.kept[this.head + place] : undefined;
  }

  number(at, bytes) {
    let value = 0;
    for (let i = 0; i < bytes; i++) value = value * 256 + (this.byte(at + i) ?? 0);
    return value;
  }

  bits(start, count) {
    const first = start >> 3;
    const last = (start + count + 7) >> 3;
    let value = 0n;
    for (let at = first; at < last; at++) value = value << 8n | BigInt(this.byte(at) ?? 0);
    value = value >> BigInt(8 * last - start - count) & (1n << BigInt(count)) - 1n;
    return count <= 48 ? Number(value) : value;
  }
}

function layer(frame, name, start, values) {
  let at = 8 * start;
  const fields = HEADERS[name].map(([label, bits, tell]) => {
    const value = frame.bits(at, bits);
    const field = { name: label, text: tell(value), start: at >> 3, end: (at + bits + 7) >> 3 };
    if (values) values[label] = value;
    at += bits;
    return field;
  });
  return { name, start, end: start + HEADER_BYTES[name], fields };
}

// `layers` for people, and what a caption needs: the values of the headers behind the BTH by name,
// and the payload's length.
function decode(kept) {
  const frame = new Frame(kept);
  const layers = [];
  const ethernet = layer(frame, "Ethernet", 0);
  layers.push(ethernet);
  let at = 14;
  let type = frame.number(12, 2);
  while (VLAN_TYPES.has(type) && at + 4 <= frame.head) {
    layers.push(layer(frame, "VLAN", at));
    type = frame.number(at + 2, 2);
    at += 4;
  }
  if (frame.byte(at) >> 4 === 6) {
    layers.push(layer(frame, "IPv6", at));
    at += 40;
  } else {
    const header = layer(frame, "IPv4", at);
    layers.push(header);
    const options = at + 4 * (frame.byte(at) & 15);
    if (options > header.end) header.fields.push(run(frame, "Options", header.end, options));
    header.end = at = options;
  }
  const end = Math.min(at + frame.number(at + 4, 2), frame.size);
  frame.tail = end - meta.tail_bytes;
  layers.push(layer(frame, "UDP", at));
  const bth = {};
  layers.push(layer(frame, "BTH", at + 8, bth));
  at += 20;
  const values = { bth };
  for (const name of meta.opcodes[bth.Opcode]?.headers ?? []) {
    if (at + HEADER_BYTES[name] > end - 4) break;
    layers.push(layer(frame, name, at, values[name] = {}));
    at += HEADER_BYTES[name];
  }
  const body = end - 4;
  let pad = body - bth.PadCnt;
  if (pad < at) pad = body;
  if (pad > at) layers.push(plain(frame, "Payload", at, pad));
  if (body > pad) layers.push(plain(frame, "Pad", pad, body));
  layers.push(plain(frame, "ICRC", body, end));
  if (frame.size > end) layers.push(plain(frame, "Behind the packet", end, frame.size));
  return { frame, layers, values, payload: Math.max(0, pad - at) };
}

function run(frame, name, start, end) {
  let text = "";
  for (let at = start; at < end && at < start + 16; at++) {
    const byte = frame.byte(at);
    text += byte === undefined ? "" : byte.toString(16).padStart(2, "0");
  }
  const more = text.length < 2 * (end - start) ? (text ? ".." : "not kept") : "";
  return { name, text: text + more, start, end };
}

function plain(frame, name, start, end) {
  const field = run(frame, end - start === 1 ? "1 byte" : `${end - start} bytes`, start, end);
  return { name, start, end, fields: [field] };
}
