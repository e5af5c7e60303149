// Why is it there: what the page knows of the references between input sections.
//
// The tables hold the graph and its roots. All is made of these when it is first asked for: the way from a root, who
// refers to whom, and what would go without a section, which is its subtree in the tree of dominators.

import { unzigzag } from '../data/leb128.js';
import { DamagedPage } from '../data/blobs.js';
import { Graph, pathTo } from './csr.js';
import { dominators } from './dominators.js';

export class Why {
  constructor(model) {
    this.model = model;
    const { tables } = model;
    this.known = tables.has('references.step') && tables.has('roots.input_section');
    this.hasArchives = tables.has('objects.asked_by');
    /** Has all of it been read? */
    this.isComplete = false;
    /** Why it could not be. */
    this.damage = '';
    this.made = new Map();
  }

  #once(name, make) {
    if (!this.made.has(name)) this.made.set(name, make());
    return this.made.get(name);
  }

  get graph() {
    return this.#once('graph', () => {
      const { tables, counts } = this.model;
      const start = startsOf(tables.column('input_sections.references'));
      return new Graph(start, targets(start, tables.column('references.step')), counts.input_sections);
    });
  }

  get #roots() {
    return this.#once('roots', () => {
      const { tables, counts } = this.model;
      return tables.references('roots.input_section', counts.input_sections);
    });
  }

  /** Why `section` is a root; empty if it is none. */
  rootReason(section) {
    const row = this.#roots.indexOf(section);
    if (row < 0) return '';
    const reason = this.model.nameOf('roots.reason', row) || 'root';
    const symbol = this.model.tables.has('roots.symbol') ? this.model.nameOf('roots.symbol', row) : '';
    return symbol ? `${reason} ${symbol}` : reason;
  }

  /** Sections from a root to `section` by the fewest references; empty if none leads to it. */
  async path(section) {
    const before = await this.#once('before', () => this.graph.shortestPaths(this.#roots));
    return pathTo(before, section);
  }

  /** What refers to `section`, each once. */
  referrers(section) {
    const reversed = this.#once('reversed', () => this.graph.reversed());
    return [...new Set(reversed.from(section))];
  }

  /** What `section` refers to, each once. */
  references(section) {
    return [...new Set(this.graph.from(section))];
  }

  /** What each section keeps. */
  kept() {
    return this.#once('kept', async () => {
      return new Kept(await dominators(this.graph, this.#roots), this.model);
    });
  }

  /** Who asked for the archive member `object`, and for what, back to an object that was given: `{ by, symbol }`. */
  askedFor(object) {
    const { tables, counts } = this.model;
    const by = tables.column('objects.asked_by');
    const chain = [];
    const seen = new Set();
    for (let at = object; by[at] && by[at] <= counts.objects && !seen.has(at); at = by[at] - 1) {
      seen.add(at);
      chain.push({ by: by[at] - 1, symbol: this.model.nameOf('objects.asked_for', at) });
    }
    return chain;
  }
}

/** What goes with sections: the tree of dominators. */
class Kept {
  constructor(dominator, { section, size }) {
    this.dominator = dominator;
    // Bytes of the file that would go with each section: its own, and those of its subtree, leaves first.
    const keeps = new Float64Array(dominator.length);
    for (let piece = 0; piece < section.length; piece++)
      if (section[piece]) keeps[section[piece] - 1] += size[piece];
    const children = new Uint32Array(dominator.length);
    for (const id of dominator) if (id) children[id - 1]++;
    for (let leaf = 0; leaf < dominator.length; leaf++) {
      for (let at = leaf; children[at] === 0 && dominator[at]; at = dominator[at] - 1) {
        children[at] = DONE;
        keeps[dominator[at] - 1] += keeps[at];
        children[dominator[at] - 1]--;
      }
    }
    this.keeps = keeps;
  }

  /** Bytes that would go with `section`, its own included. */
  bytes(section) {
    return this.keeps[section];
  }

  /** The section that alone holds `section`; -1 if a root does, or several do. */
  heldBy(section) {
    return this.dominator[section] - 1;
  }

  /** What would go with `section` first: its children in the tree, with the most bytes first. */
  holds(section) {
    const { keeps } = this;
    this.children ??= childrenOf(this.dominator);
    const { start, child } = this.children;
    return [...child.subarray(start[section], start[section + 1])].sort((a, b) => keeps[b] - keeps[a]);
  }
}

function childrenOf(dominator) {
  const nodes = dominator.length;
  const start = new Uint32Array(nodes + 1);
  for (const id of dominator) if (id) start[id]++;
  for (let node = 0; node < nodes; node++) start[node + 1] += start[node];
  const next = start.slice();
  const child = new Uint32Array(start[nodes]);
  for (let node = 0; node < nodes; node++) if (dominator[node]) child[next[dominator[node] - 1]++] = node;
  return { start, child };
}

// For a section that is summed up already.
const DONE = 2 ** 32 - 1;

// Where the references of each section start, and where the last ones end.
function startsOf(counts) {
  const start = new Uint32Array(counts.length + 1);
  for (let section = 0; section < counts.length; section++)
    start[section + 1] = start[section] + counts[section];
  return start;
}

// The sections that are referred to: the page has how far the first is from who refers to it, and the others from
// the one before.
function targets(start, steps) {
  const to = new Uint32Array(steps.length);
  for (let section = 0; section + 1 < start.length; section++) {
    // A start that is wrong is found out where the graph is made.
    const end = Math.min(start[section + 1], to.length);
    for (let edge = start[section], at = section; edge < end; edge++) {
      at += edge === start[section] ? unzigzag(steps[edge]) : steps[edge];
      to[edge] = at;
    }
  }
  return to;
}
