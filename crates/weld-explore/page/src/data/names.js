// All strings of the page, as codes for words (words.js), and as one array of bytes for those who go through all.
//
// Names are UTF-8; a name's id is its place, and name 0 is empty. A million names as JavaScript strings would take
// seconds and hundreds of megabytes: a string is made when one is shown. Searches need all of them as text, and get one
// long string whose places are counted once.

import { Coded } from './words.js';

export class Names {
  /** `packed` (`{ words, numbered, codes }`) holds `count` names as a page has them; throws if it does not. */
  constructor(packed, count) {
    this.coded = new Coded(packed, count);
    this.count = count;
    this.decoder = new TextDecoder();
    this.made = null;
    this.text = null;
  }

  /** Name `id`; empty if there is no such name. */
  get(id) {
    if (!(id > 0 && id < this.count)) return '';
    return this.decoder.decode(this.coded.bytes(id));
  }

  /** All names, each ended by a NUL; made when they are first asked for. */
  get bytes() {
    this.made ??= this.coded.all();
    return this.made;
  }

  /** Where each name starts in `bytes`. */
  get starts() {
    return this.coded.starts;
  }

  /** All names as one string, each ended by a NUL, and where each starts in it. */
  asText() {
    if (!this.text) {
      const { bytes, starts } = this;
      const all = this.decoder.decode(bytes);
      // Without other characters than ASCII the places in the text are those in the bytes.
      this.text = { all, starts: all.length === bytes.length ? starts : startsInText(all, this.count) };
    }
    return this.text;
  }
}

function startsInText(all, count) {
  const starts = new Uint32Array(count + 1);
  for (let id = 1, at = 0; id <= count; id++) {
    at = all.indexOf('\0', at) + 1;
    starts[id] = at;
  }
  return starts;
}
