// SPDX-License-Identifier: BSD-2-Clause
// The headers' fields in the order of the wire: name, bits, and how the value is told.

const bytewise = (width, sign) => value => {
  const digits = value.toString(16).padStart(2 * width, "0");
  return digits.match(/../g).join(sign);
};
const decimal = value => String(value);
const hexOf = digits => value => hex(value, digits);
const ipv4 = value => [24, 16, 8, 0].map(shift => Number(value) >>> shift & 255).join(".");
const bit = value => String(value);

// The shortest form, as RFC 5952 has it.
function ipv6(value) {
  const words = bytewise(16, "")(value).match(/..../g).map(word => word.replace(/^0{1,3}/, ""));
  const runs = [...words.join(":").matchAll(/\b0(?::0)+\b/g)].sort((a, b) => b[0].length - a[0].length);
  if (!runs.length) return words.join(":");
  const text = words.join(":");
  const [run] = runs;
  return `${text.slice(0, run.index).replace(/:$/, "")}::${text.slice(run.index + run[0].length).replace(/^:/, "")}`;
}

const opcodeText = value => `${hex(value, 2)} ${meta.opcodes[value]?.name ?? "reserved"}`;

function syndromeText(value) {
  const low = value & 31;
  const kinds = [`ACK, credits ${low}`, `RNR NAK, timer ${low}`, "reserved", `NAK, code ${low}`];
  return `${hex(value, 2)} ${value < 128 ? kinds[value >> 5] : "reserved"}`;
}

const HEADERS = {
  Ethernet: [["Destination", 48, bytewise(6, ":")], ["Source", 48, bytewise(6, ":")], ["Type", 16, hexOf(4)]],
  VLAN: [["Priority", 3, decimal], ["Drop eligible", 1, bit], ["VLAN ID", 12, decimal], ["Type", 16, hexOf(4)]],
  IPv4: [
    ["Version", 4, decimal], ["Header words", 4, decimal], ["DSCP", 6, decimal], ["ECN", 2, decimal],
    ["Total length", 16, decimal], ["Identification", 16, hexOf(4)], ["Reserved", 1, bit],
    ["Don't fragment", 1, bit], ["More fragments", 1, bit], ["Fragment offset", 13, decimal],
    ["TTL", 8, decimal], ["Protocol", 8, decimal], ["Header checksum", 16, hexOf(4)],
    ["Source", 32, ipv4], ["Destination", 32, ipv4],
  ],
  IPv6: [
    ["Version", 4, decimal], ["DSCP", 6, decimal], ["ECN", 2, decimal], ["Flow label", 20, hexOf(5)],
    ["Payload length", 16, decimal], ["Next header", 8, decimal], ["Hop limit", 8, decimal],
    ["Source", 128, ipv6], ["Destination", 128, ipv6],
  ],
  UDP: [["Source port", 16, decimal], ["Destination port", 16, decimal], ["Length", 16, decimal], ["Checksum", 16, hexOf(4)]],
  BTH: [
    ["Opcode", 8, opcodeText], ["Solicited Event", 1, bit], ["MigReq", 1, bit], ["PadCnt", 2, decimal],
    ["TVer", 4, decimal], ["P_Key", 16, hexOf(4)], ["FECN", 1, bit], ["BECN", 1, bit],
    ["Reserved", 6, decimal], ["Destination QP", 24, hexOf(6)], ["AckReq", 1, bit],
    ["Reserved", 7, decimal], ["PSN", 24, value => `${value} (${hex(value, 6)})`],
  ],
  RETH: [["Virtual address", 64, hexOf(16)], ["R_Key", 32, hexOf(8)], ["DMA length", 32, decimal]],
  ImmDt: [["Immediate", 32, hexOf(8)]],
  IETH: [["R_Key", 32, hexOf(8)]],
  FETH: [["Reserved", 26, decimal], ["Selectivity", 2, decimal], ["Placement type", 4, decimal]],
  AtomicETH: [["Virtual address", 64, hexOf(16)], ["R_Key", 32, hexOf(8)], ["Swap or add", 64, hexOf(16)], ["Compare", 64, hexOf(16)]],
  AtomicAckETH: [["Original value", 64, hexOf(16)]],
  DETH: [["Q_Key", 32, hexOf(8)], ["Reserved", 8, decimal], ["Source QP", 24, hexOf(6)]],
  CNP: [["Reserved", 128, hexOf(32)]],
  AETH: [["Syndrome", 8, syndromeText], ["MSN", 24, decimal]],
};

const HEADER_BYTES = Object.fromEntries(
  Object.entries(HEADERS).map(([name, fields]) => [name, fields.reduce((sum, [, bits]) => sum + bits, 0) / 8]),
);
