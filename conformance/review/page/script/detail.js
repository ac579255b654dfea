// SPDX-License-Identifier: BSD-2-Clause
// The opened packet: its findings, its headers field by field, and its bytes; a field shows the
// bytes it stands in.

async function drawDetail(row) {
  await headers.load(row, row);
  if (row !== choice.row) return;
  const { frame, layers } = decode(headers.of(row));
  const panel = byId("detail");
  const title = `frame ${columns.numbers[row]}: ${caption(row)}`;
  const close = make("button", { type: "button", class: "close", "aria-label": "Close the packet", onclick: () => choice.close() }, "×");
  const bytes = bytesElement(frame);
  panel.replaceChildren(
    make("div", { class: "bar" }, make("h3", {}, title), close),
    make("p", { class: "faint" }, `${flowText(columns.flows[row])} · flow ${columns.flows[row]} · ${seconds(row)} s · ${grouped(frame.size)} of ${counted(frame.fullSize, "byte")} captured`),
    make("ul", {}, ...marksOf(row).map(foundElement)),
    ...layers.map(each => layerElement(each, row, bytes)),
    bytes);
}

function foundElement(mark) {
  const number = columns.mark_groups[mark];
  const { rule, severity, sentence, count } = meta.groups[number];
  return make("li", { class: `found ${severity}` },
    make("b", {}, `${severity} ${rule}: `), `${markText(mark)} `,
    make("span", { class: "faint" }, `${sentence} `),
    make("button", { type: "button", onclick: () => showGroup(number) }, count > 1 ? `all ${grouped(count)} of this kind` : "in the list of findings"));
}

function layerElement(each, row, bytes) {
  const icrc = each.name === "ICRC" && columns.flags[row] & FLAG.BAD_ICRC ? " wrong" : "";
  const lines = each.fields.map(field => {
    const line = make("li", {}, make("span", {}, field.name), make("span", { class: icrc && "must" }, field.text + icrc));
    const light = on => {
      line.classList.toggle("lit", on);
      for (const byte of bytes.querySelectorAll("[data-at]")) {
        const at = Number(byte.dataset.at);
        if (at >= field.start && at < field.end) byte.classList.toggle("lit", on);
      }
    };
    line.addEventListener("mouseenter", () => light(true));
    line.addEventListener("mouseleave", () => light(false));
    return line;
  });
  const open = ["BTH", "RETH", "AETH", "ImmDt", "ICRC", "AtomicETH", "AtomicAckETH", "DETH", "IETH", "FETH"].includes(each.name);
  const size = each.end - each.start;
  return make("details", open ? { open: "" } : {}, make("summary", {}, `${each.name} `, make("span", { class: "faint" }, counted(size, "byte"))), make("ul", {}, ...lines));
}

// Sixteen bytes a line; what the page does not keep is said once.
function bytesElement(frame) {
  const box = make("div", { class: "bytes", tabindex: "0", role: "group", "aria-label": "Bytes of the frame" });
  let gap = false;
  for (let line = 0; line < frame.size; line += 16) {
    const places = Array.from({ length: Math.min(16, frame.size - line) }, (_, i) => line + i);
    if (places.every(at => frame.byte(at) === undefined)) {
      if (!gap) box.append("  ....  not kept\n");
      gap = true;
      continue;
    }
    gap = false;
    box.append(`${line.toString(16).padStart(4, "0")}  `);
    for (const at of places) {
      const byte = frame.byte(at);
      box.append(make("span", { "data-at": at }, byte === undefined ? ".." : byte.toString(16).padStart(2, "0")), at % 8 === 7 ? "  " : " ");
    }
    box.append("\n");
  }
  return box;
}
