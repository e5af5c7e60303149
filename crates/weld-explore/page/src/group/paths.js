// Groupings by paths: directories of sources, namespaces of names.
//
// Each piece has a path, a range of the names' bytes, and a cursor that says where its next component begins.
// Splitting a group takes one component of all its pieces, gives equal ones the same key, and moves the cursors
// on. A piece whose path has ended stands among the groups by itself. Chains of groups with one child each are
// one group ("home/me/project/src").

import { findNamespace, componentEnd } from './demangled.js';

const SLASH = 47;
const BACKSLASH = 92;

/** Grouping by the directories and files of sources. */
export const bySource = {
  start(model, order) {
    const { names } = model;
    const sources = sourceOfPieces(model);
    return byPaths(names.bytes, order, model, {
      separator: 1,
      end: directoryEnd,
      none: () => 'source unknown',
      place(piece, place) {
        const id = sources[piece];
        place.from = names.starts[id] ?? 0;
        place.to = id ? names.starts[id + 1] - 1 : place.from;
        return id ? 0 : 1;
      },
    });
  },
};

/** Source of each piece: its own, or that of its object. */
export function sourceOfPieces(model) {
  const own = model.tables.column('pieces.source');
  const ofObject = model.tables.column('objects.source');
  const { object } = model;
  const out = new Uint32Array(model.pieces);
  for (let piece = 0; piece < out.length; piece++) {
    const id = own[piece] || (object[piece] && ofObject[object[piece] - 1]);
    out[piece] = id < model.names.count ? id : 0;
  }
  return out;
}

/** Grouping by namespaces or crates. */
export const byNamespace = {
  start(model, order) {
    const { names } = model;
    const ids = model.tables.column('pieces.name');
    const NONE = ['', '(no name)', '(no namespace)'];
    return byPaths(names.bytes, order, model, {
      separator: 2,
      namesPieces: true,
      end: componentEnd,
      none: reason => NONE[reason],
      place(piece, place) {
        const id = ids[piece];
        if (!(id && id < names.count)) return 1;
        findNamespace(names.bytes, names.starts[id], names.starts[id + 1] - 1, place);
        return place.from === place.to ? 2 : 0;
      },
    });
  },
};

function directoryEnd(bytes, from, to) {
  // The root directory, and "C:\", belong to the first name.
  let at = from;
  while (at < to && (bytes[at] === SLASH || bytes[at] === BACKSLASH)) at++;
  while (at < to && bytes[at] !== SLASH && bytes[at] !== BACKSLASH) at++;
  return at;
}

// `rules.place(piece, place)` finds a piece's path, or returns why it has none, a number above 0.
function byPaths(bytes, order, model, rules) {
  const cursor = new Uint32Array(model.pieces);
  const limit = new Uint32Array(model.pieces);
  const without = new Uint8Array(model.pieces);
  const place = { from: 0, to: 0 };
  for (const piece of order) {
    without[piece] = rules.place(piece, place);
    cursor[piece] = place.from;
    limit[piece] = place.to;
  }
  const run = { model, bytes, cursor, limit, without, rules };
  return {
    root: 'root',
    level(state, order, lo, hi) {
      return state === 'end' ? null : pathLevel(run, order, lo, hi, state === 'root');
    },
  };
}

// Keys 0 to 3 are reasons to have no path; components follow as they come; then pieces whose path has ended.
const COMPONENTS = 4;
const ENDED = 2 ** 32 - 1;

function pathLevel(run, order, lo, hi, isRoot) {
  const { model, bytes, rules } = run;
  const { keyOf, table } = takeComponents(run, order, lo, hi, isRoot);
  if (table.size === 0 && !isRoot) return null;
  const ends = joinChains(run, table, order, lo, keyOf);
  const endedFrom = COMPONENTS + table.size;
  let keys = endedFrom;
  for (let i = 0; i < keyOf.length; i++) if (keyOf[i] === ENDED) keyOf[i] = keys++;
  const decoder = new TextDecoder();
  return {
    keyOf,
    keys,
    state: key => (key < COMPONENTS ? 'end' : 'path'),
    label(key, piece, count) {
      if (key < COMPONENTS) return rules.none(key);
      if (key >= endedFrom || (rules.namesPieces && count === 1)) return model.pieceName(piece);
      return decoder.decode(bytes.subarray(table.from[key - COMPONENTS], ends[key - COMPONENTS]));
    },
  };
}

// The next component of each piece, numbered, and the cursors behind it.
function takeComponents(run, order, lo, hi, isRoot) {
  const { bytes, cursor, limit, without, rules } = run;
  const keyOf = new Uint32Array(hi - lo);
  const table = new Components(bytes, hi - lo);
  for (let i = lo; i < hi; i++) {
    const piece = order[i];
    const from = cursor[piece];
    if (isRoot && without[piece]) keyOf[i - lo] = without[piece];
    else if (from >= limit[piece]) keyOf[i - lo] = ENDED;
    else {
      const end = rules.end(bytes, from, limit[piece]);
      keyOf[i - lo] = COMPONENTS + table.number(from, end);
      cursor[piece] = Math.min(end + rules.separator, limit[piece]);
    }
  }
  return { keyOf, table };
}

// Takes further components as long as all pieces of a group have the same; returns where each label ends, in
// the path of the group's first piece.
function joinChains(run, table, order, lo, keyOf) {
  const { bytes, cursor, limit, rules } = run;
  const ends = table.to.slice();
  let active = new Uint32Array(keyOf.length).map((_, i) => i);
  active = active.filter(i => keyOf[i] >= COMPONENTS && keyOf[i] !== ENDED);
  while (active.length > 0) {
    const from = new Uint32Array(table.size);
    const to = new Uint32Array(table.size);
    const differs = new Uint8Array(table.size);
    for (const i of active) {
      const key = keyOf[i] - COMPONENTS;
      if (differs[key]) continue;
      const piece = order[lo + i];
      const at = cursor[piece];
      if (at >= limit[piece]) differs[key] = 1;
      else if (to[key] === 0) {
        from[key] = at;
        to[key] = rules.end(bytes, at, limit[piece]);
      } else if (!startsLike(run, at, limit[piece], from[key], to[key])) differs[key] = 1;
    }
    active = active.filter(i => !differs[keyOf[i] - COMPONENTS]);
    for (const i of active) {
      const key = keyOf[i] - COMPONENTS;
      const piece = order[lo + i];
      ends[key] = to[key];
      cursor[piece] = Math.min(cursor[piece] + to[key] - from[key] + rules.separator, limit[piece]);
    }
  }
  return ends;
}

// Is the component at `from` the bytes `[first, firstEnd)`?
function startsLike(run, from, to, first, firstEnd) {
  const { bytes, rules } = run;
  const length = firstEnd - first;
  if (from === first) return true;
  if (from + length > to) return false;
  for (let i = 0; i < length; i++) if (bytes[from + i] !== bytes[first + i]) return false;
  return rules.end(bytes, from, to) === from + length;
}

// Equal ranges of bytes get equal numbers: a hash table in typed arrays.
class Components {
  constructor(bytes, most) {
    this.bytes = bytes;
    let slots = 64;
    while (slots < most * 2) slots *= 2;
    this.slots = new Uint32Array(slots);
    this.from = [];
    this.to = [];
  }

  get size() {
    return this.from.length;
  }

  number(from, to) {
    const { bytes, slots } = this;
    let hash = 2166136261;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at], 16777619);
    const mask = slots.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const number = slots[slot];
      if (number === 0) {
        this.to.push(to);
        slots[slot] = this.from.push(from);
        return this.from.length - 1;
      }
      if (this.same(number - 1, from, to)) return number - 1;
    }
  }

  same(number, from, to) {
    const first = this.from[number];
    if (this.to[number] - first !== to - from) return false;
    for (let i = 0; i < to - from; i++) if (this.bytes[first + i] !== this.bytes[from + i]) return false;
    return true;
  }
}
