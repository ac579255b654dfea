// SPDX-License-Identifier: BSD-2-Clause
// Which rows are shown: those the filter lets through, with runs of MIDDLE packets as one item.
// An item is the place of its first row among the rows shown.

class View {
  static LEAST_RUN = 4;

  constructor() {
    this.filter = null;
    this.folding = true;
    this.unfolded = new Set(); // by the first row of the run
    this.build();
  }

  build() {
    const count = columns.flags.length;
    if (this.filter) {
      let shown = 0;
      const rows = new Uint32Array(count);
      for (let row = 0; row < count; row++) if (this.filter(row)) rows[shown++] = row;
      this.rows = rows.subarray(0, shown);
    } else {
      this.rows = null;
    }
    this.shown = this.rows ? this.rows.length : count;
    this.fold();
  }

  fold() {
    const starts = new Uint32Array(this.shown + 1);
    let items = 0;
    for (let place = 0; place < this.shown;) {
      starts[items++] = place;
      const end = this.folding ? this.endOfRun(place) : place;
      place = end - place >= View.LEAST_RUN && !this.unfolded.has(this.rowAt(place)) ? end : place + 1;
      // An unfolded run is walked through once, not searched again from each of its rows.
      if (end > place) for (; place < end; place++) starts[items++] = place;
    }
    starts[items] = this.shown;
    this.starts = starts.subarray(0, items + 1);
    this.items = items;
  }

  rowAt(place) {
    return this.rows ? this.rows[place] : place;
  }

  // Behind the last of the unremarkable MIDDLE packets that begin here.
  endOfRun(place) {
    const telling = FLAG.MIDDLE | FLAG.COPY | FLAG.BAD_ICRC | FLAG.MARKED;
    while (place < this.shown && (columns.flags[this.rowAt(place)] & telling) === FLAG.MIDDLE) place++;
    return place;
  }

  // The rows of an item: first row, last row and how many.
  item(number) {
    const first = this.starts[number];
    const last = this.starts[number + 1] - 1;
    return { row: this.rowAt(first), last: this.rowAt(last), count: last - first + 1, place: first };
  }

  itemOf(row) {
    let place = row;
    if (this.rows) {
      place = firstAtLeast(this.rows, row);
      if (this.rows[place] !== row) return -1;
    }
    return firstAtLeast(this.starts, place + 1) - 1;
  }

  unfold(item) {
    this.unfolded.add(this.item(item).row);
    this.fold();
  }
}
