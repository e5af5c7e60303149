// Finding pieces by what they, or what they belong to, are called.
//
// A search is first over names (each once, however many pieces bear it), then over pieces: a piece is found if
// its symbol, input section, object, archive or source is. `object:main` looks at one of these only. It works
// in slices and gives up when a newer search begins, so typing never waits.

import { Slices } from './slices.js';

const FIELDS = ['symbol', 'section', 'object', 'archive', 'source'];

/** The parts of what was typed: a field or null for all, and the text. */
export function parseQuery(text) {
  const match = /^(symbol|section|object|archive|source):\s*(.*)$/i.exec(text.trim());
  return match ? { field: match[1].toLowerCase(), text: match[2] } : { field: null, text: text.trim() };
}

/** The regular expression of a search; throws SyntaxError for one that is none. */
export function patternOf(text, isRegex) {
  const source = isRegex ? text : text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(source, text.toLowerCase() === text ? 'i' : '');
}

/**
 * A Uint8Array with 1 for each piece found, or null if `stopped()` became true. Capital letters in `text` make
 * capitals count.
 */
export async function search(model, { text, isRegex }, stopped) {
  const query = parseQuery(text);
  const pattern = patternOf(query.text, isRegex);
  const slices = new Slices(stopped);
  const names = await matchNames(model.names, { pattern, isRegex }, slices);
  if (!names) return null;
  const found = new Uint8Array(model.pieces);
  for (const field of query.field ? [query.field] : FIELDS) {
    if (await slices.rest()) return null;
    if (field !== 'section') markField(model, field, names, found);
    else if (!(await markSections(model, { pattern, isRegex, text: query.text }, names, slices, found)))
      return null;
  }
  return found;
}

// Nobody reads further into a name, and a pattern may take long on each.
const MOST_TESTED = 4096;

// 1 for each name that matches.
async function matchNames(names, { pattern, isRegex }, slices) {
  const { all, starts } = names.asText();
  const found = new Uint8Array(names.count);
  const STEP = 4096;
  for (let first = 1; first < names.count; first += STEP) {
    const end = Math.min(first + STEP, names.count);
    if (isRegex) {
      for (let id = first; id < end; id++) {
        const last = Math.min(starts[id + 1] - 1, starts[id] + MOST_TESTED);
        if (pattern.test(all.slice(starts[id], last))) found[id] = 1;
      }
    } else markHits(all, starts, { first, end }, pattern, found);
    if (await slices.rest()) return null;
  }
  return found;
}

// Plain text is looked for in many names at once.
function markHits(all, starts, { first, end }, pattern, found) {
  const text = all.slice(starts[first], starts[end]);
  const everywhere = new RegExp(pattern.source, `g${pattern.flags}`);
  let id = first;
  for (let hit; (hit = everywhere.exec(text));) {
    const at = starts[first] + hit.index;
    while (starts[id + 1] <= at) id++;
    found[id] = 1;
    everywhere.lastIndex = starts[id + 1] - starts[first];
  }
}

function markField(model, field, names, found) {
  const { tables } = model;
  if (field === 'symbol') {
    const symbols = tables.column('pieces.name');
    for (let i = 0; i < found.length; i++) if (names[symbols[i]]) found[i] = 1;
    return;
  }
  if (field === 'source') {
    const sources = model.source;
    for (let i = 0; i < found.length; i++) if (names[sources[i]]) found[i] = 1;
    return;
  }
  const [ids, column] = {
    object: [model.object, 'objects.name'],
    archive: [model.archive, 'archives.name'],
  }[field];
  const marked = tables.column(column);
  for (let i = 0; i < found.length; i++) if (ids[i] && names[marked[ids[i] - 1]]) found[i] = 1;
}

// A section that is called for a symbol may be found by either part of its name, or by what is on both sides of where they
// meet. Null if a newer search begins.
async function markSections(model, { pattern, isRegex, text }, names, slices, found) {
  const starts = model.tables.column('input_sections.name');
  const symbols = model.sectionSymbol;
  const across = new Map();
  const hits = new Uint8Array(starts.length);
  for (let row = 0; row < hits.length; row++) {
    const [start, symbol] = [starts[row], symbols[row]];
    if (!symbol) hits[row] = names[start];
    else if (isRegex) {
      const name = model.names.get(start) + model.names.get(symbol);
      hits[row] = pattern.test(name.slice(0, MOST_TESTED)) ? 1 : 0;
    } else {
      if (!across.has(start)) across.set(start, endsOf(text, model.names.get(start), pattern));
      hits[row] = names[start] || names[symbol] || beginsWith(model.names, symbol, across.get(start)) ? 1 : 0;
    }
    if (row % 4096 === 0 && (await slices.rest())) return null;
  }
  const sections = model.section;
  for (let i = 0; i < found.length; i++) if (sections[i] && hits[sections[i] - 1]) found[i] = 1;
  return found;
}

// Patterns for what must stand at the beginning of a text that follows `start`, for `text` to be in both.
function endsOf(text, start, { flags }) {
  const ends = [];
  for (let at = 1; at < text.length; at++) {
    const [first, rest] = [text.slice(0, at), text.slice(at)].map(part => patternOf(part, false).source);
    if (new RegExp(`${first}$`, flags).test(start)) ends.push(new RegExp(rest, `y${flags}`));
  }
  return ends;
}

function beginsWith(names, id, patterns) {
  if (patterns.length === 0) return false;
  const { all, starts } = names.asText();
  return patterns.some(pattern => {
    pattern.lastIndex = starts[id];
    return pattern.test(all);
  });
}
