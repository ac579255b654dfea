// SPDX-License-Identifier: BSD-2-Clause
// A list of any length in a box that scrolls: only what is seen exists. Browsers bound the height of
// an element, so a long list scrolls in a shorter box: small movements are taken as they are, long
// ones in proportion, and afterwards the bar is put where it belongs.

class Scroller {
  static TALLEST = 8_000_000;

  constructor(list, draw) {
    this.list = list;
    this.spacer = byId("spacer");
    this.pane = byId("pane");
    this.draw = draw;
    this.top = 0;
    this.seen = 0;
    this.count = 0;
    this.drawn = 0;
    list.addEventListener("scroll", () => this.follow(), { passive: true });
    list.addEventListener("scrollend", () => this.settle());
    new ResizeObserver(() => this.measure()).observe(list);
  }

  measure() {
    this.rowHeight = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
    this.height = this.list.clientHeight;
    this.pane.style.height = `${this.height}px`;
    byId("heading").style.paddingRight = `calc(.5rem + ${this.list.offsetWidth - this.list.clientWidth}px)`;
    this.length(this.count);
  }

  length(count) {
    this.count = count;
    this.total = count * this.rowHeight;
    this.tall = Math.min(this.total, Scroller.TALLEST);
    this.spacer.style.height = `${this.tall}px`;
    this.list.style.setProperty("--content", `${this.tall + 2}px`);
    this.go(this.top);
  }

  get furthest() {
    return Math.max(0, this.total - this.height);
  }

  follow() {
    const now = this.list.scrollTop;
    const moved = now - this.seen;
    const most = Math.max(0, this.tall - this.height);
    this.seen = now;
    if (moved === 0) return;
    const near = Math.abs(moved) < 2 * this.height && now > 0 && now < most - 1;
    this.top = near ? this.top + moved : most > 0 ? now / most * this.furthest : 0;
    this.top = Math.min(Math.max(0, this.top), this.furthest);
    this.redraw();
  }

  settle() {
    const most = Math.max(0, this.tall - this.height);
    this.list.scrollTop = this.furthest ? this.top / this.furthest * most : 0;
    this.seen = this.list.scrollTop;
  }

  go(top) {
    this.top = Math.min(Math.max(0, top), this.furthest);
    this.settle();
    this.redraw();
  }

  // Bring an item into sight, in the middle if it was far off.
  show(item) {
    const above = item * this.rowHeight;
    const below = above + this.rowHeight - this.height;
    if (above < this.top - this.height || below > this.top + this.height) this.go(above - this.height / 2);
    else if (above < this.top) this.go(above);
    else if (below > this.top) this.go(below);
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const first = Math.floor(this.top / this.rowHeight);
      const last = Math.min(this.count - 1, Math.ceil((this.top + this.height) / this.rowHeight));
      this.drawn++;
      this.draw(first, last);
    });
  }

  offset(item) {
    return item * this.rowHeight - this.top;
  }

  get page() {
    return Math.max(1, Math.floor(this.height / this.rowHeight) - 1);
  }
}
