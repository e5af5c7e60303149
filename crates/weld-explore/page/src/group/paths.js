// Groupings by paths: directories of sources, namespaces of names.

import { findNamespace, componentEnd } from './demangled.js';
import { byPaths } from './path-levels.js';

const SLASH = 47;
const BACKSLASH = 92;

/** Grouping by the directories and files of sources. */
export const bySource = {
  start(model) {
    const { starts } = model.names;
    const ways = waysOf(model, model.source, (id, place) => {
      place.from = starts[id];
      place.to = starts[id + 1] - 1;
      return 0;
    });
    return byPaths(model, ways, { separator: 1, end: directoryEnd, none: () => 'source unknown' });
  },
};

const NONE = ['', '(no name)', '(no namespace)'];

/** Grouping by namespaces or crates. */
export const byNamespace = {
  start(model) {
    const { bytes, starts } = model.names;
    const ways = waysOf(model, model.tables.column('pieces.name'), (id, place) => {
      findNamespace(bytes, starts[id], starts[id + 1] - 1, place);
      return place.from === place.to ? 2 : 0;
    });
    return byPaths(model, ways, {
      separator: 2,
      namesPieces: true,
      end: componentEnd,
      none: reason => NONE[reason],
    });
  },
};

// Ends of components of paths; the root directory belongs to the first name.
function directoryEnd(bytes, from, to) {
  let at = from;
  while (at < to && (bytes[at] === SLASH || bytes[at] === BACKSLASH)) at++;
  while (at < to && bytes[at] !== SLASH && bytes[at] !== BACKSLASH) at++;
  return at;
}

// Ways for the names in `idOf` (one a piece). `find(id, place)` finds the path in a name, or returns why it has
// none; those without a name have none for reason 1.
function waysOf(model, idOf, find) {
  const wayOf = new Uint32Array(model.pieces);
  const without = new Uint8Array(model.pieces);
  // Ways by name: 0 not seen, 1 none; others are ways + 1.
  const known = new Uint32Array(model.names.count);
  const reasons = new Uint8Array(model.names.count);
  let from = new Uint32Array(1024);
  let to = new Uint32Array(1024);
  let ways = 0;
  const place = { from: 0, to: 0 };
  for (let piece = 0; piece < idOf.length; piece++) {
    const id = idOf[piece];
    if (!(id && id < known.length)) {
      without[piece] = 1;
      continue;
    }
    if (known[id] === 0) {
      reasons[id] = find(id, place);
      if (reasons[id]) known[id] = 1;
      else {
        if (++ways === from.length) [from, to] = [grown(from), grown(to)];
        from[ways] = place.from;
        to[ways] = place.to;
        known[id] = ways + 1;
      }
    }
    wayOf[piece] = known[id] - 1;
    without[piece] = reasons[id];
  }
  return { wayOf, without, from: from.slice(0, ways + 1), to: to.slice(0, ways + 1) };
}

function grown(array) {
  const out = new Uint32Array(array.length * 2);
  out.set(array);
  return out;
}
