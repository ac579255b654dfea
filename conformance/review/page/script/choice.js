// SPDX-License-Identifier: BSD-2-Clause
// The packet that is chosen, and whether it is open.

class Choice {
  constructor() {
    this.item = 0;
    this.opened = false;
  }

  get row() {
    return this.item < view.items ? view.item(this.item).row : -1;
  }

  set(item) {
    this.item = Math.min(Math.max(0, item), Math.max(0, view.items - 1));
    scroller.show(this.item);
    scroller.redraw();
    plot.redraw();
    if (this.opened) this.fill();
  }

  // Choose a row wherever it is: behind a filter, or in a folded run.
  goTo(row) {
    if (view.itemOf(row) < 0) setFilter("");
    let item = view.itemOf(row);
    if (view.item(item).count > 1) {
      view.unfold(item);
      rows.forget();
      scroller.length(view.items);
      item = view.itemOf(row);
    }
    this.set(item);
    this.open();
    byId("split").scrollIntoView({ block: "nearest" });
    byId("list").focus({ preventScroll: true });
  }

  // Show the headers of a packet, or the packets of a run.
  open() {
    if (!view.items) return;
    if (view.item(this.item).count > 1) {
      view.unfold(this.item);
      rows.forget();
      scroller.length(view.items);
      scroller.redraw();
      return;
    }
    this.opened = true;
    byId("detail").hidden = false;
    byId("split").classList.add("open");
    scroller.measure();
    scroller.show(this.item);
    if (matchMedia("(max-width: 1000px)").matches) byId("packets").scrollIntoView();
    this.fill();
  }

  fill() {
    if (this.row >= 0 && view.item(this.item).count === 1) drawDetail(this.row);
  }

  close() {
    this.opened = false;
    byId("detail").hidden = true;
    byId("split").classList.remove("open");
    byId("list").focus({ preventScroll: true });
  }
}
