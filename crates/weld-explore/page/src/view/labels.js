// Text that fits into a rectangle.
//
// Measuring thousands of labels by the canvas takes longer than drawing them, so widths are summed from those of
// ASCII characters, measured once a font; other text is measured as it is.

import { findNamespace, componentEnd } from '../group/demangled.js';

export class TextWidths {
  constructor(context, font) {
    this.context = context;
    this.font = font;
    context.font = font;
    this.widths = new Float64Array(128);
    for (let code = 32; code < 127; code++)
      this.widths[code] = context.measureText(String.fromCharCode(code)).width;
    this.dots = context.measureText('…').width;
  }

  /** As much of `text` as fits into `room` pixels, with dots if it is cut; empty if that is next to nothing. */
  fit(text, room) {
    let width = 0;
    let lastWithDots = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 127 || code < 32) return this.#fitMeasured(text, room);
      width += this.widths[code];
      if (width + this.dots <= room) lastWithDots = i + 1;
      if (width > room) return lastWithDots >= 4 ? `${text.slice(0, lastWithDots)}…` : '';
    }
    return text;
  }

  #fitMeasured(text, room) {
    this.context.font = this.font;
    const characters = Array.from(text.slice(0, 400));
    const fits = count =>
      this.context.measureText(characters.slice(0, count).join('')).width + this.dots <= room;
    let [low, high] = [0, characters.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (fits(middle)) low = middle;
      else high = middle - 1;
    }
    if (low === characters.length) return text;
    return low >= 4 ? `${characters.slice(0, low).join('')}…` : '';
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A demangled name without namespaces and arguments: what tells it from its neighbours. */
export function shortName(name) {
  const bytes = encoder.encode(name.slice(0, 4000));
  let from = 0;
  if (bytes[0] === 60) {
    // Rust's `<Type as Trait>::function`.
    const close = componentEnd(bytes, 0, bytes.length);
    from = close < bytes.length ? close + 2 : 0;
  } else {
    const place = { from: 0, to: 0 };
    findNamespace(bytes, 0, bytes.length, place);
    from = place.from === place.to ? place.from : place.to + 2;
  }
  if (from >= bytes.length) from = 0;
  const text = decoder.decode(bytes.subarray(from));
  const arguments_ = argumentsAt(text);
  return arguments_ > 0 ? text.slice(0, arguments_) : text;
}

// Where the list of arguments of a function begins; -1 if there is none.
function argumentsAt(text) {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '<' || c === '{' || c === '[') depth++;
    else if ((c === '>' && text[i - 1] !== '-') || c === '}' || c === ']') depth--;
    else if (c === '(' && depth <= 0 && i > 0 && !text.startsWith('operator()', i - 8)) return i;
  }
  return -1;
}
