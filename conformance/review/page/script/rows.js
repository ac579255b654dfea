// SPDX-License-Identifier: BSD-2-Clause
// Draws the items that are in sight: an arrow between two lifelines with its caption, and the rules
// that the packet breaks.

class Rows {
  static MOST_LANES = 6;

  constructor() {
    this.shown = new Map();
    this.captions = new Map(); // of folded runs, by first row
  }

  get crowded() {
    return meta.stations.length > Rows.MOST_LANES;
  }

  at(station) {
    return meta.stations.length > 1 ? 100 * station / (meta.stations.length - 1) : 50;
  }

  heading() {
    const lanes = make("span", { class: "lanes" });
    const last = meta.stations.length - 1;
    if (this.crowded) lanes.append("packet");
    else meta.stations.forEach((station, place) => {
      const edge = place === 0 ? " first" : place === last ? " last" : "";
      const label = make("span", { class: `station${edge}` }, station);
      label.style.left = `${this.at(place)}%`;
      lanes.append(label);
    });
    const cell = (name, text) => make("span", { class: name }, text);
    byId("heading").replaceChildren(cell("frame", "frame"), cell("time", "seconds"), lanes, cell("marks", "findings"));
    byId("list").classList.toggle("crowded", this.crowded);
  }

  forget() {
    this.shown.clear();
    byId("pane").replaceChildren();
  }

  async draw(first, last) {
    const rows = [];
    for (let item = first; item <= last; item++) rows.push(view.item(item));
    if (rows.some(item => !headers.of(item.row))) {
      await Promise.all(rows.map(item => headers.load(item.row, item.row)));
      if (!rows.length || view.items <= first) return;
    }
    const pane = byId("pane");
    const kept = new Map();
    for (let item = first; item <= Math.min(last, view.items - 1); item++) {
      const element = this.shown.get(item) ?? this.element(item);
      element.style.transform = `translateY(${scroller.offset(item)}px)`;
      element.classList.toggle("chosen", item === choice.item);
      if (!element.isConnected) pane.append(element);
      kept.set(item, element);
    }
    for (const [item, element] of this.shown) if (!kept.has(item)) element.remove();
    this.shown = kept;
    byId("list").setAttribute("aria-activedescendant", kept.has(choice.item) ? `item-${choice.item}` : "");
  }

  element(item) {
    const { row, last, count } = view.item(item);
    const flags = columns.flags[row];
    const fold = count > 1;
    const names = ["row", "cells", KINDS[flags & 3], fold && "fold", flags & FLAG.COPY && "copy", flags & FLAG.BAD_ICRC && "bad"];
    const text = fold ? this.foldCaption(row, last, count) : caption(row);
    const found = fold ? [] : marksOf(row);
    const rules = [...new Set(found.map(mark => meta.groups[columns.mark_groups[mark]].rule))];
    const worst = found.length ? meta.groups[columns.mark_groups[found[0]]].severity : "";
    const element = make("div", { role: "row", class: names.filter(Boolean).join(" "), id: `item-${item}`, "aria-rowindex": item + 1, "data-row": row },
      make("span", { role: "gridcell", class: "frame" }, String(columns.numbers[row])),
      make("span", { role: "gridcell", class: "time" }, seconds(row)),
      this.lanes(columns.flows[row], text),
      make("span", { role: "gridcell", class: `marks ${worst}`, title: rules.join(" ") }, rules.join(" ")));
    element.addEventListener("click", () => { choice.set(item); choice.open(); });
    return element;
  }

  lanes(flow, text) {
    const lanes = make("span", { role: "gridcell", class: "lanes" });
    const [source, destination] = [columns.flow_sources[flow], columns.flow_destinations[flow]];
    if (this.crowded) {
      lanes.append(make("span", { class: "caption", title: text }, `${meta.stations[source]} > ${meta.stations[destination]}  ${text}`));
      return lanes;
    }
    meta.stations.forEach((_, place) => {
      const life = make("span", { class: "life" });
      life.style.left = `${this.at(place)}%`;
      lanes.append(life);
    });
    const [left, right] = [source, destination].map(place => this.at(place)).sort((a, b) => a - b);
    const arrow = make("span", { class: `arrow ${destination >= source ? "right" : "left"}` });
    arrow.style.left = `${left}%`;
    arrow.style.width = `${right - left}%`;
    const label = make("span", { class: "caption", title: text }, text);
    label.style.left = `${(left + right) / 2}%`;
    if (meta.stations.length > 2) label.style.maxWidth = `calc(${Math.max(right - left, 20)}% - 1.4rem)`;
    const spoken = make("span", { class: "spoken" }, `${meta.stations[source]} to ${meta.stations[destination]}: `);
    lanes.append(spoken, arrow, label);
    return lanes;
  }

  foldCaption(row, last, count) {
    if (!this.captions.has(row)) {
      const flows = new Set();
      const names = new Set();
      const begin = view.itemOf(row);
      const { place } = view.item(begin);
      for (let i = place; i < place + count; i++) {
        flows.add(columns.flows[view.rowAt(i)]);
        names.add(columns.names[view.rowAt(i)]);
      }
      const what = names.size === 1 ? meta.names[columns.names[row]] : "MIDDLE";
      const where = flows.size === 1 ? `${psnText(row)} to ${psnText(last)}` : `of ${flows.size} flows`;
      this.captions.set(row, `${grouped(count)} × ${what} ${where}`);
    }
    return this.captions.get(row);
  }
}
