// SPDX-License-Identifier: BSD-2-Clause
// Which findings a row has, and which rows a group of findings has. Findings lie in the order of
// rows; their texts are unpacked after the page has opened.

function firstAtLeast(array, value) {
  let low = 0;
  let high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function marksOf(row) {
  const found = [];
  if (!(columns.flags[row] & FLAG.MARKED)) return found;
  for (let i = firstAtLeast(columns.mark_rows, row); columns.mark_rows[i] === row; i++) found.push(i);
  return found;
}

function markText(mark) {
  return texts ? texts[columns.mark_texts[mark]] : "";
}

function marksOfGroup(group, most) {
  const found = [];
  for (let i = 0; i < columns.mark_groups.length && found.length < most; i++) if (columns.mark_groups[i] === group) found.push(i);
  return found;
}

// The next row with findings in that direction, -1 if there is none.
function markedRow(row, step) {
  const rows = columns.mark_rows;
  const at = step > 0 ? firstAtLeast(rows, row + 1) : firstAtLeast(rows, row) - 1;
  return at >= 0 && at < rows.length ? rows[at] : -1;
}
