// SPDX-License-Identifier: BSD-2-Clause
// Opens the page: columns first, then everything that is drawn from them.

let columns, headers, view, rows, scroller, plot, choice, texts;

function drawView() {
  rows.forget();
  choice.item = Math.max(0, Math.min(choice.item, view.items - 1));
  scroller.length(view.items);
  const folded = view.shown - view.items;
  const told = view.filter ? `${grouped(view.shown)} of ${counted(meta.rows, "packet")}` : counted(meta.rows, "packet");
  byId("shown").textContent = folded ? `${told} in ${counted(view.items, "row")}` : told;
  byId("list").setAttribute("aria-rowcount", view.items);
}

function setFilter(text) {
  const row = choice.row;
  byId("filter").value = text;
  view.filter = filterOf(text);
  view.build();
  choice.item = row < 0 ? 0 : Math.max(0, view.itemOf(row));
  drawView();
  scroller.show(choice.item);
}

async function open() {
  performance.mark("opening");
  columns = await readArrays("columns", meta.columns);
  accumulate(columns.numbers);
  accumulate(columns.times);
  headers = new Headers();
  view = new View();
  rows = new Rows();
  choice = new Choice();
  drawSummary();
  drawGroups();
  drawFlows(countFlows());
  plot = new Plot();
  rows.heading();
  scroller = new Scroller(byId("list"), (first, last) => rows.draw(first, last).then(() => performance.mark("drawn")));
  scroller.measure();
  drawView();
  listenToPlot();
  listenToKeys();
  byId("filter").addEventListener("input", event => setFilter(event.target.value));
  byId("folding").addEventListener("change", event => {
    view.folding = event.target.checked;
    view.unfolded.clear();
    setFilter(byId("filter").value);
  });
  requestAnimationFrame(() => setTimeout(() => {
    performance.mark("opened");
    document.documentElement.dataset.opened = "yes";
  }));
  texts = JSON.parse(new TextDecoder().decode(await unpack(byId("texts"))));
}

open();
