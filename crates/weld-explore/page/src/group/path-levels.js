// Splitting pieces by paths, component by component.
//
// Pieces of one source file, or with one name, have the same path: a "way". Each way is a range of the names'
// bytes, with a cursor where its next component begins. Splitting a group takes one component of all its ways,
// gives equal ones the same key, and moves the cursors on. A piece whose way has ended stands among the groups by
// itself. Chains of groups with one child each are one group ("home/me/project/src").

import { Components } from './components.js';
import { byLevels } from './levels.js';

/**
 * Groups of pieces by their ways. `wayOf[piece]` is 1 and more for a way, and 0 for pieces without one, for which
 * `without[piece]` tells why (1 to 3). `from` and `to` are the places of ways in `bytes`. `rules` has `end(bytes,
 * from, to)` of a component, the length of a `separator`, `none(reason)`, and whether groups of one piece bear its
 * name (`namesPieces`).
 */
export function byPaths(model, ways, rules) {
  const run = {
    model,
    bytes: model.names.bytes,
    rules,
    wayOf: ways.wayOf,
    without: ways.without,
    cursor: ways.from,
    limit: ways.to,
  };
  run.place = new Int32Array(run.cursor.length).fill(-1);
  const others = byLevels(['outputSection', 'archive', 'object']).start(model);
  return {
    root: 'root',
    level(state, order, lo, hi) {
      if (state === 'root' || state === 'path') return pathLevel(run, order, lo, hi, state === 'root');
      return others.level(state, order, lo, hi);
    },
  };
}

// Keys 0 to 3 are reasons to have no path; components follow as they come; then pieces whose path has ended.
const COMPONENTS = 4;
const ENDED = 2 ** 32 - 1;

function pathLevel(run, order, lo, hi, isRoot) {
  const { model, bytes, rules, wayOf, without, place } = run;
  const ways = waysIn(run, order, lo, hi);
  const { keyOfWay, table } = takeComponents(run, ways);
  if (table.size === 0 && !isRoot) {
    for (const way of ways) place[way] = -1;
    return null;
  }
  const ends = joinChains(run, table, ways, keyOfWay);
  const keyOf = new Uint32Array(hi - lo);
  const endedFrom = COMPONENTS + table.size;
  let keys = endedFrom;
  for (let i = lo; i < hi; i++) {
    const way = wayOf[order[i]];
    const key = way ? keyOfWay[place[way]] : without[order[i]];
    keyOf[i - lo] = key === ENDED ? keys++ : key;
  }
  for (const way of ways) place[way] = -1;
  const decoder = new TextDecoder();
  return {
    keyOf,
    keys,
    // Pieces without a path are grouped by what they are in.
    state: key => (key < COMPONENTS ? 0 : 'path'),
    label(key, piece, count) {
      if (key < COMPONENTS) return rules.none(key);
      if (key >= endedFrom || (rules.namesPieces && count === 1)) return model.pieceName(piece);
      return decoder.decode(bytes.subarray(table.from[key - COMPONENTS], ends[key - COMPONENTS]));
    },
  };
}

// The different ways of the pieces in a range; `run.place[way]` is its place among them.
function waysIn({ wayOf, place }, order, lo, hi) {
  const ways = [];
  for (let i = lo; i < hi; i++) {
    const way = wayOf[order[i]];
    if (way && place[way] < 0) place[way] = ways.push(way) - 1;
  }
  return ways;
}

// The next component of each way, numbered, and the cursors behind it.
function takeComponents({ bytes, cursor, limit, rules }, ways) {
  const keyOfWay = new Uint32Array(ways.length);
  const table = new Components(bytes, ways.length);
  for (let i = 0; i < ways.length; i++) {
    const way = ways[i];
    const from = cursor[way];
    if (from >= limit[way]) keyOfWay[i] = ENDED;
    else {
      const end = rules.end(bytes, from, limit[way]);
      keyOfWay[i] = COMPONENTS + table.number(from, end);
      cursor[way] = Math.min(end + rules.separator, limit[way]);
    }
  }
  return { keyOfWay, table };
}

// Takes further components as long as all ways of a group have the same; returns where each label ends, in the
// group's first way.
function joinChains(run, table, ways, keyOfWay) {
  const { cursor, limit, rules } = run;
  const ends = Uint32Array.from(table.to);
  const first = { from: new Uint32Array(table.size), to: new Uint32Array(table.size) };
  const differs = new Uint8Array(table.size);
  let active = groupsOfMany(run, table, ways, keyOfWay, ends);
  while (active.length > 0) {
    first.to.fill(0);
    for (let n = 0; n < active.length; n++) {
      const key = keyOfWay[active[n]] - COMPONENTS;
      if (!differs[key]) differs[key] = continues(run, ways[active[n]], key, first) ? 0 : 1;
    }
    let left = 0;
    for (let n = 0; n < active.length; n++) {
      const key = keyOfWay[active[n]] - COMPONENTS;
      if (differs[key]) continue;
      active[left++] = active[n];
      const way = ways[active[n]];
      ends[key] = first.to[key];
      cursor[way] = Math.min(cursor[way] + first.to[key] - first.from[key] + rules.separator, limit[way]);
    }
    active = active.subarray(0, left);
  }
  return ends;
}

// Places of the ways that share their group with others. A group of one has all of its way at once.
function groupsOfMany({ cursor, limit }, table, ways, keyOfWay, ends) {
  const counts = new Uint32Array(table.size);
  for (let i = 0; i < ways.length; i++) if (keyOfWay[i] !== ENDED) counts[keyOfWay[i] - COMPONENTS]++;
  const active = new Uint32Array(ways.length);
  let n = 0;
  for (let i = 0; i < ways.length; i++) {
    if (keyOfWay[i] === ENDED) continue;
    const key = keyOfWay[i] - COMPONENTS;
    if (counts[key] > 1) active[n++] = i;
    else cursor[ways[i]] = ends[key] = limit[ways[i]];
  }
  return active.subarray(0, n);
}

// Has `way` the same next component as the first of its group, whose place `first` holds?
function continues({ bytes, cursor, limit, rules }, way, key, first) {
  const at = cursor[way];
  if (at >= limit[way]) return false;
  if (first.to[key] === 0) {
    first.from[key] = at;
    first.to[key] = rules.end(bytes, at, limit[way]);
    return true;
  }
  const length = first.to[key] - first.from[key];
  if (at === first.from[key]) return true;
  if (at + length > limit[way]) return false;
  for (let i = 0; i < length; i++) if (bytes[at + i] !== bytes[first.from[key] + i]) return false;
  return rules.end(bytes, at, limit[way]) === at + length;
}
