// All strings of the page, in one array of bytes.
//
// Names are UTF-8, each ended by a NUL; a name's id is its place, and name 0 is empty. A million names as
// JavaScript strings would take seconds and hundreds of megabytes, so they stay bytes: a string is made when one
// is shown. Searches need all of them as text, and get one long string whose places are counted once.

export class Names {
  /** `bytes` holds `count` names; throws if it does not. */
  constructor(bytes, count) {
    this.bytes = bytes;
    this.count = count;
    this.starts = startsOf(bytes, count);
    this.decoder = new TextDecoder();
    this.text = null;
  }

  /** Name `id`; empty if there is no such name. */
  get(id) {
    if (!(id > 0 && id < this.count)) return '';
    return this.decoder.decode(this.bytes.subarray(this.starts[id], this.starts[id + 1] - 1));
  }

  /** All names as one string, each ended by a NUL, and where each starts in it. */
  asText() {
    if (!this.text) {
      const all = this.decoder.decode(this.bytes);
      // Without other characters than ASCII the places in the text are those in the bytes.
      const starts = all.length === this.bytes.length ? this.starts : startsInText(all, this.count);
      this.text = { all, starts };
    }
    return this.text;
  }
}

function startsOf(bytes, count) {
  if (!(count >= 1 && count <= bytes.length))
    throw new Error(`${count} names cannot be in ${bytes.length} bytes`);
  const starts = new Uint32Array(count + 1);
  let id = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== 0) continue;
    if (++id > count) throw new Error('there are more names than the description says');
    starts[id] = at + 1;
  }
  if (id !== count || starts[count] !== bytes.length)
    throw new Error('there are fewer names than the description says');
  return starts;
}

function startsInText(all, count) {
  const starts = new Uint32Array(count + 1);
  for (let id = 1, at = 0; id <= count; id++) {
    at = all.indexOf('\0', at) + 1;
    starts[id] = at;
  }
  return starts;
}
