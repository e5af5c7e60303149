// Without which section another one would go.
//
// A section that all ways from the roots to another lead through *dominates* it. The nearest of these is its immediate
// dominator, and they are a tree, whose subtrees say what would be saved. This is Semi-NCA (Georgiadis, “Linear-Time
// Algorithms for Dominators and Related Problems”, 2005): semidominators by a union of paths with compression, in reverse
// preorder; then the immediate dominator of each is the nearest common ancestor of its parent and its semidominator in
// the tree so far, found by walking up. Nothing recurses: chains of references are long. All roots hang on a number of
// their own, 0, which is no section.
//
// Budget: about half a microsecond a reference, in slices.

import { Slices } from '../slices.js';

const NONE = 2 ** 32 - 1;
const OFTEN = 16383;

/** The immediate dominator of each section, + 1; 0 if roots, or several that have none in common, keep it. */
export async function dominators(graph, roots, slices = new Slices()) {
  const walk = await walked(graph, roots, slices);
  const { section, parent } = walk;
  const { start, from } = await referrers(graph, roots, walk, slices);
  const count = walk.count;
  const forest = new Forest(count);
  const { semi } = forest;
  for (let number = count - 1; number > 0; number--) {
    let least = parent[number];
    for (let at = start[number]; at < start[number + 1]; at++) {
      const found = semi[forest.least(from[at])];
      if (found < least) least = found;
    }
    semi[number] = least;
    forest.ancestor[number] = parent[number];
    if ((number & OFTEN) === 0) await slices.rest();
  }
  const nearest = parent;
  const out = new Uint32Array(graph.nodes);
  for (let number = 1; number < count; number++) {
    while (nearest[number] > semi[number]) nearest[number] = nearest[nearest[number]];
    if (nearest[number]) out[section[number]] = section[nearest[number]] + 1;
    if ((number & OFTEN) === 0) await slices.rest();
  }
  return out;
}

// Sections by the order in which a depth-first walk meets them, from number 1; `number` of each section (0: not met),
// and the number of whoever led to each number.
async function walked(graph, roots, slices) {
  const { nodes, start, to } = graph;
  const walk = {
    section: new Uint32Array(nodes + 1),
    number: new Uint32Array(nodes),
    parent: new Uint32Array(nodes + 1),
    count: 1,
  };
  const next = new Uint32Array(nodes);
  const stack = new Uint32Array(nodes);
  let depth = 0;
  const meet = (section, parent) => {
    walk.number[section] = walk.count;
    walk.section[walk.count] = section;
    walk.parent[walk.count++] = parent;
    next[section] = start[section];
    stack[depth++] = section;
  };
  for (const root of roots) {
    if (root < nodes && !walk.number[root]) meet(root, 0);
    for (let steps = 1; depth > 0; steps++) {
      const section = stack[depth - 1];
      if (next[section] === start[section + 1]) depth--;
      else {
        const target = to[next[section]++];
        if (!walk.number[target]) meet(target, walk.number[section]);
      }
      if ((steps & OFTEN) === 0) await slices.rest();
    }
  }
  return walk;
}

// Who refers to each number, by numbers; roots are referred to by number 0.
async function referrers(graph, roots, { section, number, count }, slices) {
  const start = new Uint32Array(count + 1);
  const those = [...new Set(roots)].filter(root => root < graph.nodes).map(root => number[root]);
  for (const root of those) start[root + 1]++;
  for (let who = 1; who < count; who++) {
    const end = graph.start[section[who] + 1];
    for (let edge = graph.start[section[who]]; edge < end; edge++) start[number[graph.to[edge]] + 1]++;
    if ((who & OFTEN) === 0) await slices.rest();
  }
  for (let at = 0; at < count; at++) start[at + 1] += start[at];
  const next = start.slice();
  const from = new Uint32Array(start[count]);
  for (const root of those) from[next[root]++] = 0;
  for (let who = 1; who < count; who++) {
    const end = graph.start[section[who] + 1];
    for (let edge = graph.start[section[who]]; edge < end; edge++) from[next[number[graph.to[edge]]]++] = who;
    if ((who & OFTEN) === 0) await slices.rest();
  }
  return { start, from };
}

// What has been looked at, in paths that get shorter.
class Forest {
  constructor(count) {
    this.ancestor = new Uint32Array(count).fill(NONE);
    // Of the path above each number, the one with the least semidominator.
    this.label = Uint32Array.from({ length: count }, (_, number) => number);
    this.semi = this.label.slice();
    this.path = [];
  }

  least(number) {
    const { ancestor, label, semi, path } = this;
    if (ancestor[number] === NONE) return number;
    let at = number;
    while (ancestor[ancestor[at]] !== NONE) {
      path.push(at);
      at = ancestor[at];
    }
    for (let above = at; path.length > 0;) {
      const below = path.pop();
      if (semi[label[above]] < semi[label[below]]) label[below] = label[above];
      ancestor[below] = ancestor[above];
      above = below;
    }
    return label[number];
  }
}
