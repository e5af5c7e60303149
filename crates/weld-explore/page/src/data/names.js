// All strings of the page, in one array of bytes.
//
// Names are UTF-8, each ended by a NUL; a name's id is its place, and name 0 is empty. A page has U+0001 at the end of
// a section's name that ends with the name before it, in place of that. A million names as
// JavaScript strings would take seconds and hundreds of megabytes, so they stay bytes: a string is made when one
// is shown. Searches need all of them as text, and get one long string whose places are counted once.

export class Names {
  /** `packed` holds `count` names as a page has them; throws if it does not. */
  constructor(packed, count) {
    this.count = count;
    this.bytes = packed;
    this.starts = startsOf(packed, count);
    this.decoder = new TextDecoder();
    this.text = null;
  }

  /** Name `id`; empty if there is no such name. */
  get(id) {
    let name = '';
    for (let at = id; at > 0 && at < this.count; at--) {
      const end = this.starts[at + 1] - 1;
      const repeats = end > this.starts[at] && this.bytes[end - 1] === REPEAT;
      name += this.decoder.decode(this.bytes.subarray(this.starts[at], end - (repeats ? 1 : 0)));
      if (!repeats) break;
    }
    return name;
  }

  /** All names as one string, each ended by a NUL, and where each starts in it. */
  asText() {
    if (!this.text) {
      const { bytes, starts } = unpackNames(this.bytes, this.starts);
      const all = this.decoder.decode(bytes);
      // Without other characters than ASCII the places in the text are those in the bytes.
      this.text = { all, starts: all.length === bytes.length ? starts : startsInText(all, this.count) };
    }
    return this.text;
  }
}

const REPEAT = 1;
// Typed arrays cannot be larger everywhere.
const MOST = 2 ** 31 - 1;

/** The names with what they repeat, and where each starts in these, from where each starts in `packed`. */
export function unpackNames(packed, places) {
  const count = places.length - 1;
  const starts = new Uint32Array(count + 1);
  const ends = id => places[id + 1] - 1;
  const repeats = id => ends(id) > places[id] && packed[ends(id) - 1] === REPEAT;
  for (let id = 0, before = 0; id < count; id++) {
    const length = ends(id) - places[id] + (repeats(id) ? before - 1 : 0);
    if (starts[id] + length >= MOST) throw new Error('the names are too long');
    starts[id + 1] = starts[id] + length + 1;
    before = length;
  }
  if (starts[count] === packed.length) return { bytes: packed, starts };
  const bytes = new Uint8Array(starts[count]);
  for (let id = 0; id < count; id++) {
    const end = ends(id) - (repeats(id) ? 1 : 0);
    let to = starts[id];
    for (let at = places[id]; at < end; at++) bytes[to++] = packed[at];
    if (repeats(id)) bytes.copyWithin(to, starts[id - 1], starts[id] - 1);
  }
  return { bytes, starts };
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
