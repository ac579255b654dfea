// SPDX-License-Identifier: BSD-2-Clause
// What the page carries: columns, unpacked when it opens, and headers, unpacked chunk by chunk
// when they are looked at.

const meta = JSON.parse(document.getElementById("meta").textContent);
const KINDS = ["request", "response", "cnp", "other"];
const FLAG = { COPY: 4, BAD_ICRC: 8, MIDDLE: 16, STARTS: 32, MARKED: 64 };
const ARRAYS = { f64: Float64Array, u32: Uint32Array, i32: Int32Array, u16: Uint16Array, u8: Uint8Array };

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  return Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
}

async function unpack(element) {
  const packed = new Blob([bytesOf(element.textContent)]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function readArrays(id, layout) {
  const buffer = await unpack(document.getElementById(id));
  const arrays = {};
  let at = 0;
  for (const [name, type, count] of layout) {
    arrays[name] = new ARRAYS[type](buffer, at, count);
    at += arrays[name].byteLength;
  }
  return arrays;
}

// Frame numbers and times are stored as steps from row to row.
function accumulate(array) {
  for (let i = 1; i < array.length; i++) array[i] += array[i - 1];
}

// The headers of rows: `of` gives what is there at once, `load` brings a range of rows.
class Headers {
  static MOST_CHUNKS = 64;

  constructor() {
    this.elements = document.querySelectorAll("script.headers");
    this.chunks = new Map();
    this.coming = new Map();
  }

  of(row) {
    const chunk = this.chunks.get(Math.floor(row / meta.chunk_rows));
    if (!chunk) return null;
    const place = row % meta.chunk_rows;
    const bytes = chunk.bytes.subarray(chunk.starts[place], chunk.starts[place + 1]);
    return { bytes, size: chunk.sizes[place], fullSize: chunk.fullSizes[place] };
  }

  async load(first, last) {
    const wanted = [];
    for (let n = Math.floor(first / meta.chunk_rows); n <= Math.floor(last / meta.chunk_rows); n++) wanted.push(this.chunk(n));
    await Promise.all(wanted);
  }

  async chunk(number) {
    if (this.chunks.has(number)) return;
    if (!this.coming.has(number)) this.coming.set(number, this.read(number));
    await this.coming.get(number);
    this.coming.delete(number);
  }

  async read(number) {
    const buffer = await unpack(this.elements[number]);
    const rows = Math.min(meta.chunk_rows, meta.rows - number * meta.chunk_rows);
    const lengths = new Uint16Array(buffer, 8 * rows, rows);
    const starts = new Uint32Array(rows + 1);
    lengths.forEach((length, row) => { starts[row + 1] = starts[row] + length; });
    if (this.chunks.size >= Headers.MOST_CHUNKS) this.chunks.delete(this.chunks.keys().next().value);
    this.chunks.set(number, {
      sizes: new Uint32Array(buffer, 0, rows),
      fullSizes: new Uint32Array(buffer, 4 * rows, rows),
      bytes: new Uint8Array(buffer, 10 * rows),
      starts,
    });
  }
}
