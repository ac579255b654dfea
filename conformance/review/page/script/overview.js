// SPDX-License-Identifier: BSD-2-Clause
// What stands above the packets: how many of what, the groups of findings, and the flows.

const MOST_FLOWS = 100;
const MOST_FRAMES = 100;
const MOST_GROUPS = 200;

function countFlows() {
  const count = columns.flow_qpns.length;
  const counts = { packets: new Uint32Array(count), messages: new Uint32Array(count), again: new Uint32Array(count), findings: new Uint32Array(count), name: new Int32Array(count).fill(-1) };
  for (let row = 0; row < columns.flows.length; row++) {
    const flow = columns.flows[row];
    const flags = columns.flags[row];
    counts.packets[flow]++;
    if (flags & FLAG.COPY) counts.again[flow]++;
    else if (flags & FLAG.STARTS) counts.messages[flow]++;
    if (counts.name[flow] < 0) counts.name[flow] = columns.names[row];
  }
  for (const row of columns.mark_rows) counts.findings[columns.flows[row]]++;
  return counts;
}

function service(name) {
  const text = meta.names[name] ?? "";
  return /^(UC|UD|CNP)\b/.exec(text)?.[0] ?? (text.startsWith("reserved") ? "" : "RC");
}

function drawSummary() {
  const { rows, note } = meta;
  const findings = { must: 0, should: 0, info: 0 };
  for (const group of meta.groups) findings[group.severity] += group.count;
  const told = Object.entries(findings).filter(([, count]) => count).map(([severity, count]) => make("span", { class: severity }, `${grouped(count)} ${severity}`));
  const parts = [counted(rows, "RoCE packet"), counted(columns.flow_qpns.length, "flow"), `${(columns.times[rows - 1] / 1e9).toFixed(6)} s`];
  const line = byId("summary");
  line.replaceChildren(parts.join(" · "), " · findings: ", ...(told.length ? told.flatMap((each, i) => i ? [", ", each] : [each]) : ["none"]));
  if (note) line.append(make("span", { class: "faint" }, ` · ${note}`));
}

function drawFlows(counts) {
  const flows = Array.from(counts.packets.keys());
  const chosen = flows.sort((a, b) => counts.findings[b] - counts.findings[a] || counts.packets[b] - counts.packets[a] || a - b).slice(0, MOST_FLOWS);
  chosen.sort((a, b) => a - b);
  const number = value => make("td", { class: "number" }, value ? grouped(value) : "");
  byId("flows").querySelector("tbody").replaceChildren(...chosen.map(flow => make("tr", { "data-flow": flow },
    make("td", {}, make("button", { type: "button", title: "Show this flow and what answers it", onclick: () => onlyFlow(flow) }, `${flow}: ${flowText(flow)}`)),
    make("td", {}, service(counts.name[flow])),
    number(counts.packets[flow]), number(counts.messages[flow]), number(counts.again[flow]), number(counts.findings[flow]))));
  const more = flows.length - chosen.length;
  byId("flows-note").textContent = more ? `and ${counted(more, "flow")} more, with fewer packets; filter by address or qp:0x..` : "";
  const requested = chosen.filter(flow => counts.messages[flow] || counts.again[flow]);
  byId("plotted").replaceChildren(make("option", { value: "-1" }, "all flows"), ...requested.map(flow => make("option", { value: flow }, `${flow}: ${flowText(flow)}`)));
}

// The flow and those who answer it, in the list and in the plot; a second time, everything again.
function onlyFlow(flow) {
  const asked = columns.flow_answers[flow];
  const pair = [flow];
  columns.flow_answers.forEach((other, place) => { if (other === flow || place === asked) pair.push(place); });
  const text = `flow:${[...new Set(pair)].sort((a, b) => a - b).join(",")}`;
  const again = byId("filter").value === text;
  setFilter(again ? "" : text);
  const shown = [...byId("plotted").options].find(option => !again && (Number(option.value) === flow || asked >= 0 && Number(option.value) === asked));
  byId("plotted").value = shown?.value ?? "-1";
  plot.flow = Number(byId("plotted").value);
  plot.redraw();
  for (const row of byId("flows").querySelectorAll("tr[data-flow]")) row.classList.toggle("chosen", !again && pair.includes(Number(row.dataset.flow)));
}

// Groups beneath those from which they follow, at any depth.
function groupsInOrder() {
  const beneath = new Map();
  meta.groups.forEach((group, number) => {
    const cause = group.cause ?? -1;
    if (!beneath.has(cause)) beneath.set(cause, []);
    beneath.get(cause).push(number);
  });
  const found = [];
  const take = (cause, depth) => {
    for (const number of beneath.get(cause) ?? []) {
      found.push([number, depth]);
      take(number, depth + 1);
    }
  };
  take(-1, 0);
  return found;
}

function drawGroups() {
  const items = groupsInOrder().slice(0, MOST_GROUPS).map(([number, depth]) => {
    const group = meta.groups[number];
    const why = depth ? `follows from ${meta.groups[group.cause].rule}: ${group.why}` : group.why;
    const details = make("details", {},
      make("summary", {}, make("b", { class: group.severity }, `${group.severity} ${group.rule}`), ` × ${grouped(group.count)} `,
        make("span", { class: "faint" }, `${group.flow}${group.flow && " · "}frame ${group.first}${group.count > 1 ? ` to ${group.last}` : ""}`),
        make("div", {}, group.text), why ? make("div", { class: "faint" }, why) : ""));
    details.addEventListener("toggle", () => { if (details.open && details.childElementCount === 1) fillGroup(details, number); });
    return make("li", { id: `group-${number}`, class: depth ? "beneath" : null }, details);
  });
  const more = meta.groups.length - items.length;
  if (more > 0) items.push(make("li", { class: "faint" }, `and ${counted(more, "group")} more`));
  byId("groups").replaceChildren(...items);
}

function fillGroup(details, number) {
  const { sentence, rule, count } = meta.groups[number];
  const marks = marksOfGroup(number, MOST_FRAMES);
  const links = marks.map(mark => {
    const row = columns.mark_rows[mark];
    return make("button", { type: "button", title: markText(mark), onclick: () => choice.goTo(row) }, `frame ${columns.numbers[row]}`);
  });
  details.append(make("p", { class: "faint" }, sentence), make("div", { class: "frames" }, ...links));
  if (count > marks.length) details.append(make("button", { type: "button", onclick: () => setFilter(rule) }, `and ${grouped(count - marks.length)} more: show all packets with ${rule}`));
}

function showGroup(number) {
  const item = byId(`group-${number}`);
  if (!item) return;
  for (const other of byId("groups").children) other.classList.toggle("here", other === item);
  item.firstElementChild.open = true;
  item.scrollIntoView({ block: "nearest" });
  item.querySelector("summary").focus();
}
