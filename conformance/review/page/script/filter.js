// SPDX-License-Identifier: BSD-2-Clause
// The filter's words, made into one question that is cheap to ask of a million rows: what depends
// on the name or the flow is decided once for each of these.

function range(text) {
  const [low, high] = text.split("-");
  return [Number(low), high === undefined ? Number(low) : high === "" ? Infinity : Number(high)];
}

function questionOf(word) {
  const [, key, value] = /^(?:(frame|psn|flow|qp):)?(.*)$/.exec(word);
  if (key === "frame" || key === "psn") {
    const [low, high] = range(value);
    const column = key === "frame" ? columns.numbers : columns.psns;
    return row => column[row] >= low && column[row] <= high;
  }
  if (key) {
    const wanted = new Set(value.split(",").map(Number));
    if (key === "flow") return row => wanted.has(columns.flows[row]);
    return row => wanted.has(columns.flow_qpns[columns.flows[row]]);
  }
  if (word === "again") return row => columns.flags[row] & FLAG.COPY;
  if (word === "bad-icrc") return row => columns.flags[row] & FLAG.BAD_ICRC;
  if (word === "finding" || word === "findings") return row => columns.flags[row] & FLAG.MARKED;
  const groups = meta.groups.map(group => group.rule.toLowerCase().startsWith(word));
  if (/^[a-z]+-\d*$/.test(word) && groups.some(Boolean)) return row => marksOf(row).some(mark => groups[columns.mark_groups[mark]]);
  const named = meta.names.map(name => name.toLowerCase().includes(word));
  const placed = meta.stations.map(station => station.includes(word));
  return row => {
    const flow = columns.flows[row];
    return named[columns.names[row]] || placed[columns.flow_sources[flow]] || placed[columns.flow_destinations[flow]];
  };
}

function filterOf(text) {
  const words = text.toLowerCase().split(/\s+/).filter(word => word && word !== "-");
  const questions = words.map(word => {
    if (!word.startsWith("-")) return questionOf(word);
    const question = questionOf(word.slice(1));
    return row => !question(row);
  });
  return questions.length ? row => questions.every(question => question(row)) : null;
}
