// SPDX-License-Identifier: BSD-2-Clause
// One line for one packet, the same as in the terminal: what it is called, its PSN, and what else
// tells it from its neighbours.

function psnText(row, bth) {
  if ((columns.flags[row] & 3) === 2) return "";
  const psn = columns.psns[row];
  if (Number.isNaN(psn)) return bth ? `psn=${hex(bth.PSN, 6)}` : "";
  return psn < 0 ? `psn${psn}` : `psn+${psn}`;
}

function caption(row) {
  const flags = columns.flags[row];
  const kept = headers.of(row);
  const { values, payload } = kept ? decode(kept) : { values: {}, payload: 0 };
  const words = [meta.names[columns.names[row]], psnText(row, values.bth)];
  if (columns.messages[row]) words.push(`message ${columns.messages[row]}`);
  if (values.RETH) words.push(`dmalen=${values.RETH["DMA length"]}`);
  if (values.ImmDt) words.push(`imm=${hex(values.ImmDt.Immediate, 8)}`);
  if (values.AETH) words.push(`msn=${values.AETH.MSN}`);
  if (values.DETH) words.push(`from QP ${hex(values.DETH["Source QP"])}`);
  if (values.AtomicETH) words.push(`va=${hex(values.AtomicETH["Virtual address"])}`);
  if (values.AtomicAckETH) words.push(`was=${hex(values.AtomicAckETH["Original value"])}`);
  if (payload) words.push(`${payload} B`);
  if (flags & FLAG.COPY) words.push("(again)");
  if (flags & FLAG.BAD_ICRC) words.push("BAD ICRC");
  return words.filter(Boolean).join(" ");
}

function flowText(flow) {
  const source = meta.stations[columns.flow_sources[flow]];
  const destination = meta.stations[columns.flow_destinations[flow]];
  return `${source} > ${destination} QP ${hex(columns.flow_qpns[flow])}`;
}

const seconds = row => (columns.times[row] / 1e9).toFixed(6);
