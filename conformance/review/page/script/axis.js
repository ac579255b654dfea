// SPDX-License-Identifier: BSD-2-Clause
// One axis of a plot: values to places, and round values to label it with.

class Axis {
  constructor(low, high, begin, end) {
    this.low = low;
    this.high = high > low ? high : low + 1;
    this.begin = begin;
    this.scale = (end - begin) / (this.high - this.low);
  }

  at(value) {
    return this.begin + (value - this.low) * this.scale;
  }

  value(place) {
    return this.low + (place - this.begin) / this.scale;
  }

  ticks(most, least = 0) {
    const rough = (this.high - this.low) / most;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(least, power * ([1, 2, 5, 10].find(factor => factor * power >= rough) ?? 10));
    const found = [];
    for (let n = Math.ceil(this.low / step); n * step <= this.high && found.length <= 2 * most; n++) found.push(n * step);
    this.step = step;
    return found;
  }
}
