// SPDX-License-Identifier: BSD-2-Clause
// The keyboard: j and k walk, Enter opens, / filters, Esc closes.

function listenToKeys() {
  const step = by => choice.set(choice.item + by);
  const marked = by => {
    const row = markedRow(choice.row, by);
    if (row >= 0) choice.goTo(row);
  };
  const everywhere = {
    j: () => step(1), k: () => step(-1), n: () => marked(1), p: () => marked(-1),
    "/": () => byId("filter").focus(), "?": () => byId("help").showModal(),
    Escape: () => { if (choice.opened) choice.close(); else setFilter(""); },
  };
  const inList = {
    ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => step(scroller.page), PageUp: () => step(-scroller.page),
    Home: () => choice.set(0), End: () => choice.set(view.items - 1), Enter: () => choice.open(),
  };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    const { target } = event;
    const typing = target.matches("input[type=search], select");
    const move = target.id === "list" && inList[event.key] || !typing && everywhere[event.key];
    if (!move) return;
    event.preventDefault();
    move();
    if (["j", "k"].includes(event.key)) byId("list").focus({ preventScroll: true });
  });
  byId("filter").addEventListener("keydown", event => {
    if (event.key === "Escape") setFilter("");
    else if (event.key !== "Enter") return;
    event.preventDefault();
    byId("list").focus();
  });
  byId("help-button").addEventListener("click", () => byId("help").showModal());
}
