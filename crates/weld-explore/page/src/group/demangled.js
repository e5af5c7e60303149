// Where the namespaces of a demangled name are.
//
// `clang::ast::Visitor<std::pair<A, B>>::visit(clang::Decl*)` is in `clang`, `ast` and `Visitor<…>`; what stands
// in <>, (), [] and {} is not looked into. What may stand before a name is skipped: "vtable for", return types
// of templates, "public: virtual void __cdecl". `<alloc::vec::Vec<T> as core::ops::Drop>::drop` is in what the
// trait is implemented for, or in the trait's crate where that is no path (`<&T as core::fmt::Debug>::fmt`).
// This reads bytes of millions of names: one pass, no strings.

const [SPACE, QUOTE, OPEN, CLOSE, STAR, AMP, MINUS] = [..." '()*&-"].map(c => c.charCodeAt(0));
const [COLON, LESS, GREATER, LEFT, RIGHT, TICK, CURLY, UNCURLY] = [...':<>[]`{}'].map(c => c.charCodeAt(0));

/**
 * The namespace part of the name in `bytes[start..end)`: `place.from` and `place.to` are set to where it begins
 * and ends, the same if there is none.
 */
export function findNamespace(bytes, start, end, place) {
  if (bytes[start] === LESS && findImplementation(bytes, start, end, place)) return;
  findPath(bytes, start, end, place);
}

/** End of the first component of the path in `bytes[from..to)`: where "::" is, or `to`. */
export function componentEnd(bytes, from, to) {
  let depth = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === COLON) {
      if (depth === 0 && bytes[at + 1] === COLON && at + 1 < to) return at;
    } else depth = nesting(bytes, at, depth);
  }
  return to;
}

// How deep in brackets the byte after `at` is.
function nesting(bytes, at, depth) {
  switch (bytes[at]) {
    case LESS:
    case OPEN:
    case LEFT:
    case CURLY:
    case TICK:
      return depth + 1;
    case GREATER:
      return bytes[at - 1] === MINUS || depth === 0 ? depth : depth - 1;
    case CLOSE:
    case RIGHT:
    case UNCURLY:
      return depth === 0 ? 0 : depth - 1;
    case QUOTE:
      // Ends what a tick begins, in names of Microsoft's compiler; else it is a lifetime's.
      return depth > 0 && opensWithTick(bytes, at) ? depth - 1 : depth;
    default:
      return depth;
  }
}

function opensWithTick(bytes, at) {
  for (let back = at - 1; back >= 0 && bytes[back] !== 0; back--) {
    if (bytes[back] === TICK) return true;
    if (bytes[back] === QUOTE) return false;
  }
  return false;
}

function findPath(bytes, start, end, place) {
  place.from = start;
  place.to = start;
  let depth = 0;
  let componentStart = start;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (depth === 0) {
      if (at === componentStart && isOperator(bytes, at, end)) return;
      if (byte === COLON && bytes[at + 1] === COLON) {
        place.to = at;
        at++;
        componentStart = at + 1;
        continue;
      }
      // A return type or a word such as "public:" ends here, but not a name with its arguments (" const").
      if (byte === SPACE) {
        if (bytes[at - 1] === CLOSE && at - 1 !== start) return;
        place.from = place.to = componentStart = at + 1;
        continue;
      }
      if ((byte === STAR || byte === AMP) && at === componentStart) {
        place.from = place.to = componentStart = at + 1;
        continue;
      }
    }
    depth = nesting(bytes, at, depth);
  }
}

const OPERATOR = [...'operator'].map(c => c.charCodeAt(0));

function isOperator(bytes, at, end) {
  if (at + 8 > end) return false;
  for (let i = 0; i < 8; i++) if (bytes[at + i] !== OPERATOR[i]) return false;
  const next = bytes[at + 8];
  const isWord =
    (next >= 48 && next <= 57) || (next >= 65 && next <= 90) || next === 95 || (next >= 97 && next <= 122);
  return !isWord;
}

// `<Type as Trait>::function`, Rust's; false if it is not of that shape.
function findImplementation(bytes, start, end, place) {
  let depth = 0;
  let split = -1;
  let close = -1;
  for (let at = start; at < end; at++) {
    if (depth === 1 && split < 0 && isAs(bytes, at, end)) split = at;
    depth = nesting(bytes, at, depth);
    if (depth === 0) {
      close = at;
      break;
    }
  }
  if (close < 0) return false;
  pathOfType(bytes, start + 1, split < 0 ? close : split, place);
  if (place.from === place.to && split >= 0) {
    pathOfType(bytes, split + 4, close, place);
  }
  return true;
}

function isAs(bytes, at, end) {
  return (
    at + 4 <= end &&
    bytes[at] === SPACE &&
    bytes[at + 1] === 97 &&
    bytes[at + 2] === 115 &&
    bytes[at + 3] === SPACE
  );
}

// The whole path of a type, its own name included; nothing for types that are not in a crate.
function pathOfType(bytes, from, to, place) {
  let at = from;
  for (;;) {
    const before = at;
    while (at < to && (bytes[at] === AMP || bytes[at] === STAR || bytes[at] === LEFT || bytes[at] === SPACE))
      at++;
    for (const word of ['mut ', 'dyn ', 'const ']) if (startsWith(bytes, at, to, word)) at += word.length;
    if (at === before) break;
  }
  place.from = at;
  place.to = componentEnd(bytes, at, to) === to ? at : to;
  if (at < to && (bytes[at] === OPEN || bytes[at] === LESS)) place.to = at;
}

function startsWith(bytes, at, end, word) {
  if (at + word.length > end) return false;
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) return false;
  return true;
}
