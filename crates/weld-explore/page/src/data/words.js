// From codes for words to texts.
//
// A page has each word of its names once, in the part `words`: those that have a number, by their numbers, then all
// others in the order in which names have them, each with a NUL behind it. The part `names` is codes, by bytes:
//
//   0 ends a name; 1 is the next word without a number; 2, at the end of a name only, is the whole name before;
//   3 to 194 are words 0 to 191; 195 to 254 with a byte behind them the next 256 words each;
//   255, with three bytes, the lowest first: the words behind those.
//
// Names stay codes until somebody wants all of them: those of a large program are a hundred megabytes. Budget: about 5 ns
// a word to find where names are, 20 ns to make them.

const END = 0;
const NEXT = 1;
const BEFORE = 2;
const FIRST = 3;
const SHORT = 192;
const PAIRS = FIRST + SHORT;
const LONG = 255;
const MIDDLE = SHORT + (LONG - PAIRS) * 256;
// Typed arrays cannot be larger everywhere.
const MOST = 2 ** 31 - 1;

// How many bytes a code has that begins with this one, and the word that the code at `at` is, if it has a number.
const widthOf = code => (code < PAIRS ? 1 : code < LONG ? 2 : 4);
function wordAt(codes, at) {
  const code = codes[at];
  if (code < PAIRS) return code - FIRST;
  if (code < LONG) return SHORT + ((code - PAIRS) << 8) + codes[at + 1];
  return MIDDLE + codes[at + 1] + (codes[at + 2] << 8) + (codes[at + 3] << 16);
}

export class Coded {
  /** Throws if `words`, of which `numbered` have numbers, and `codes` are not just `count` names. */
  constructor({ words, numbered, codes }, count) {
    this.words = words;
    this.numbered = numbered;
    this.codes = codes;
    this.count = count;
    this.places = placesOf(words);
    if (!(numbered >= 0 && numbered < this.places.length))
      throw new Error('there are fewer words than it says');
    if (!(count >= 1 && count <= codes.length))
      throw new Error(`${count} names cannot be in ${codes.length} bytes`);
    // Of each name, and behind the last one: where its codes are, how many words without numbers are before it, and
    // where it will be among all names, each with a NUL behind it.
    this.at = new Uint32Array(count + 1);
    this.next = new Uint32Array(count + 1);
    this.starts = new Uint32Array(count + 1);
    this.#measure();
  }

  // All that can be wrong is found here.
  #measure() {
    const { places, numbered, codes, count, starts } = this;
    const last = places.length - 1;
    let [length, next, id] = [0, numbered, 0];
    for (let at = 0; at < codes.length;) {
      const code = codes[at];
      const word = code === NEXT ? next++ : wordAt(codes, at);
      at += widthOf(code);
      if (code === END) {
        if (id === count) throw new Error('there are more names than the description says');
        const end = starts[id] + length + 1;
        if (end > MOST) throw new Error('the names are too long');
        starts[++id] = end;
        this.at[id] = at;
        this.next[id] = next - numbered;
        length = 0;
        continue;
      }
      if (code === BEFORE) {
        if (id === 0 || codes[at] !== END) throw new Error('a name is repeated where none can be');
        length += starts[id] - 1 - starts[id - 1];
      } else {
        // Codes that are cut off are no number, which is not below anything.
        if (!(at <= codes.length && word < (code === NEXT ? last : numbered)))
          throw new Error(`word ${word} is not there`);
        length += places[word + 1] - 1 - places[word];
      }
      // What has no end can be long, too.
      if (length > MOST) throw new Error('the names are too long');
    }
    if (id !== count || length > 0) throw new Error('there are fewer names than the description says');
    if (next !== last) throw new Error('there are more words than the names have');
  }

  /** The bytes of name `id`. */
  bytes(id) {
    const out = new Uint8Array(this.starts[id + 1] - 1 - this.starts[id]);
    // Names that repeat the one before are a chain, whose beginnings come first, and end where one repeats nothing.
    for (let [of, to] = [id, 0]; to < out.length && of >= 0; of--) to = this.#put(of, out, to);
    return out;
  }

  // Appends name `id` without what it repeats, which must be at its end.
  #put(id, out, to) {
    const { codes, words, places } = this;
    let next = this.numbered + this.next[id];
    const end = this.at[id + 1] - 1;
    for (let at = this.at[id]; at < end;) {
      const code = codes[at];
      const word = code === NEXT ? next++ : wordAt(codes, at);
      at += widthOf(code);
      if (code === BEFORE) continue;
      const last = places[word + 1] - 1;
      for (let from = places[word]; from < last; from++) out[to++] = words[from];
    }
    return to;
  }

  /** The bytes of all names, each with a NUL behind it. */
  all() {
    const { starts } = this;
    const out = new Uint8Array(starts[this.count]);
    for (let id = 0; id < this.count; id++) {
      const to = this.#put(id, out, starts[id]);
      // What is missing is the name before.
      if (to < starts[id + 1] - 1) out.copyWithin(to, starts[id - 1], starts[id] - 1);
    }
    return out;
  }
}

// Where each word starts, and behind the last one.
function placesOf(words) {
  let count = 0;
  for (let at = 0; at < words.length; at++) if (words[at] === 0) count++;
  const places = new Uint32Array(count + 1);
  let word = 0;
  for (let at = 0; at < words.length; at++) if (words[at] === 0) places[++word] = at + 1;
  if (places[count] !== words.length) throw new Error('a word has no end');
  return places;
}
