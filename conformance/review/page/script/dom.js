// SPDX-License-Identifier: BSD-2-Clause
// Elements are made here and nowhere else, and text is only ever text: nothing from the wire is
// read as markup.

const byId = id => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const grouped = number => number.toLocaleString("en");
const counted = (number, word) => `${grouped(number)} ${word}${number === 1 ? "" : "s"}`;
const hex = (value, digits = 0) => `0x${value.toString(16).padStart(digits, "0")}`;
