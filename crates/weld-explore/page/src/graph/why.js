// Why is it there: what the page knows of the references between input sections.
//
// The tables hold the graph, its roots, and the dominator tree that the linker has computed: the dominator of a
// section is the last that all paths from roots to it go through, so a section's subtree is what would go
// without it. Reversed rows, shortest paths and children in the dominator tree are made when first asked for.

import { unzigzag } from '../data/leb128.js';
import { Graph, pathTo } from './csr.js';

export class Why {
  constructor(model) {
    this.model = model;
    const { tables } = model;
    this.known = tables.has('graph.start') && tables.has('graph.step') && tables.has('roots.input_section');
    this.hasDominators = tables.has('input_sections.dominator') && tables.has('input_sections.keeps');
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
      const start = tables.column('graph.start');
      return new Graph(start, targets(start, tables.column('graph.step')), counts.input_sections);
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
    return row < 0 ? '' : this.model.nameOf('roots.reason', row) || 'root';
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

  /** Bytes that would go with `section`, its own included. */
  keeps(section) {
    return this.model.tables.column('input_sections.keeps')[section];
  }

  /** The section that alone holds `section`; -1 if a root does, or several do. */
  heldBy(section) {
    return (
      this.model.tables.references('input_sections.dominator', this.model.counts.input_sections + 1)[
        section
      ] - 1
    );
  }

  /** What would go with `section` first: its children in the dominator tree, with the most bytes first. */
  holds(section) {
    const { start, child } = this.#once('children', () => this.#dominatorChildren());
    const keeps = this.model.tables.column('input_sections.keeps');
    return [...child.subarray(start[section], start[section + 1])].sort((a, b) => keeps[b] - keeps[a]);
  }

  #dominatorChildren() {
    const nodes = this.model.counts.input_sections;
    const dominator = this.model.tables.references('input_sections.dominator', nodes + 1);
    const start = new Uint32Array(nodes + 1);
    for (const id of dominator) if (id) start[id]++;
    for (let node = 0; node < nodes; node++) start[node + 1] += start[node];
    const next = start.slice();
    const child = new Uint32Array(start[nodes]);
    for (let node = 0; node < nodes; node++) if (dominator[node]) child[next[dominator[node] - 1]++] = node;
    return { start, child };
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

// The sections that are referred to: the page has how far they are from those that refer to them.
function targets(start, steps) {
  const to = new Uint32Array(steps.length);
  for (let section = 0; section + 1 < start.length; section++) {
    // A start that is wrong is found out where the graph is made.
    const end = Math.min(start[section + 1], to.length);
    for (let edge = start[section]; edge < end; edge++) to[edge] = section + unzigzag(steps[edge]);
  }
  return to;
}
