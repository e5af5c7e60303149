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
    markField(model, field, names, found);
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
    section: [model.section, 'input_sections.name'],
    object: [model.object, 'objects.name'],
    archive: [model.archive, 'archives.name'],
  }[field];
  const marked = tables.column(column);
  for (let i = 0; i < found.length; i++) if (ids[i] && names[marked[ids[i] - 1]]) found[i] = 1;
}
