// SPDX-License-Identifier: BSD-2-Clause
// PSN over time of one flow, or of all: each packet a dot, of any number of packets. Dots that fall
// together are drawn once, and a repetition is never hidden by what it repeats.

class Plot {
  static DOT = 3;
  static TONES = ["response", "request", "copy"];

  constructor() {
    this.canvas = byId("plot");
    this.flow = -1; // all
    this.span = null; // seconds, null for all
    this.order = this.ordered();
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  // Rows with a PSN by time; captures of several interfaces need not be in order.
  ordered() {
    const rows = new Uint32Array(columns.psns.length);
    let count = 0;
    let sorted = true;
    for (let row = 0; row < rows.length; row++) {
      if (Number.isNaN(columns.psns[row])) continue;
      if (count && columns.times[row] < columns.times[rows[count - 1]]) sorted = false;
      rows[count++] = row;
    }
    const order = rows.subarray(0, count);
    return sorted ? order : order.sort((a, b) => columns.times[a] - columns.times[b]);
  }

  has(row) {
    if (this.flow < 0) return true;
    const flow = columns.flows[row];
    return flow === this.flow || columns.flow_answers[flow] === this.flow && (columns.flags[row] & 3) === 1;
  }

  get whole() {
    if (!this.order.length) return [0, 1];
    return [columns.times[this.order[0]], columns.times[this.order[this.order.length - 1]]];
  }

  // The part of `order` that lies in the span shown.
  shownPart() {
    const [low, high] = this.span ?? this.whole;
    const search = value => {
      let [from, to] = [0, this.order.length];
      while (from < to) {
        const middle = (from + to) >> 1;
        if (columns.times[this.order[middle]] < value) from = middle + 1;
        else to = middle;
      }
      return from;
    };
    return this.order.subarray(search(low), search(high + 1e-3));
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  draw() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width) return;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    this.tone = name => style.getPropertyValue(`--${name}`);
    const part = this.shownPart();
    let [low, high] = [Infinity, -Infinity];
    let packets = 0;
    for (const row of part) {
      if (!this.has(row)) continue;
      packets++;
      low = Math.min(low, columns.psns[row]);
      high = Math.max(high, columns.psns[row]);
    }
    if (!packets) [low, high] = [0, 1];
    this.x = new Axis(...(this.span ?? this.whole), width < 500 ? 44 : 64, width - 12);
    this.y = new Axis(low, high, height - 26, 12);
    this.grid(width, height);
    this.dots(part, width, height);
    this.rings();
    this.canvas.setAttribute("aria-label", `PSN over time of ${this.flow < 0 ? "all flows" : flowText(this.flow)}: ${counted(packets, "packet")}, PSN ${grouped(low)} to ${grouped(high)}`);
  }

  grid(width, height) {
    const { pen } = this;
    pen.font = "12px system-ui, sans-serif";
    pen.strokeStyle = this.tone("line");
    pen.fillStyle = this.tone("faint");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.textAlign = "center";
    for (const value of this.x.ticks(width < 500 ? 3 : 7)) {
      const at = Math.round(this.x.at(value)) + 0.5;
      pen.moveTo(at, 8);
      pen.lineTo(at, height - 24);
      const digits = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(this.x.step))));
      pen.fillText(`${(value / 1e9).toFixed(digits)} s`, Math.min(at, width - 32), height - 8);
    }
    pen.textAlign = "right";
    for (const value of this.y.ticks(5, 1)) {
      const at = Math.round(this.y.at(value)) + 0.5;
      pen.moveTo(this.x.begin, at);
      pen.lineTo(width - 12, at);
      pen.fillText(grouped(value), this.x.begin - 6, at + 4);
    }
    pen.stroke();
  }

  dots(part, width, height) {
    const [wide, high] = [Math.ceil(width), Math.ceil(height)];
    const cells = new Uint8Array(wide * high);
    for (const row of part) {
      if (!this.has(row)) continue;
      const flags = columns.flags[row];
      const tone = flags & FLAG.COPY ? 3 : (flags & 3) === 1 ? 1 : 2;
      const cell = Math.round(this.y.at(columns.psns[row])) * wide + Math.round(this.x.at(columns.times[row]));
      if (cells[cell] < tone) cells[cell] = tone;
    }
    Plot.TONES.forEach((name, place) => {
      this.pen.fillStyle = this.tone(name);
      for (let cell = 0; cell < cells.length; cell++) {
        if (cells[cell] === place + 1) this.pen.fillRect(cell % wide - 1, Math.floor(cell / wide) - 1, Plot.DOT, Plot.DOT);
      }
    });
  }

  rings() {
    const { pen } = this;
    const drawn = new Set();
    pen.strokeStyle = this.tone("must");
    pen.lineWidth = 1.5;
    for (const row of columns.mark_rows) {
      const psn = columns.psns[row];
      if (Number.isNaN(psn) || !this.has(row)) continue;
      const [x, y] = [Math.round(this.x.at(columns.times[row])), Math.round(this.y.at(psn))];
      if (x < this.x.begin || x > this.x.at(this.x.high) || drawn.has(x * 65536 + y)) continue;
      drawn.add(x * 65536 + y);
      pen.beginPath();
      pen.arc(x, y, 5, 0, 7);
      pen.stroke();
    }
    const { row } = choice;
    if (row < 0) return;
    const at = Math.round(this.x.at(columns.times[row])) + 0.5;
    pen.strokeStyle = this.tone("focus");
    pen.beginPath();
    pen.moveTo(at, 8);
    pen.lineTo(at, this.y.begin);
    pen.stroke();
  }

  show(span) {
    const [low, high] = this.whole;
    if (!span || span[1] - span[0] >= high - low) this.span = null;
    else {
      const length = Math.max(span[1] - span[0], 10);
      const from = Math.min(Math.max(span[0], low), high - length);
      this.span = [from, from + length];
    }
    this.redraw();
  }

  zoom(factor, centre = 0.5) {
    const [low, high] = this.span ?? this.whole;
    const middle = low + (high - low) * centre;
    this.show([middle - (middle - low) * factor, middle + (high - middle) * factor]);
  }

  move(share) {
    const [low, high] = this.span ?? this.whole;
    this.show([low + (high - low) * share, high + (high - low) * share]);
  }

  nearest(x, y) {
    let [best, least] = [-1, 24 ** 2];
    for (const row of this.shownPart()) {
      if (!this.has(row)) continue;
      const far = (this.x.at(columns.times[row]) - x) ** 2 + (this.y.at(columns.psns[row]) - y) ** 2;
      if (far < least) [best, least] = [row, far];
    }
    return best;
  }
}
