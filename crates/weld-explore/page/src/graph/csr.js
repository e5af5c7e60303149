// The graph of references between input sections, as compressed rows: `to[start[a] .. start[a + 1])` are the
// sections that section a refers to.

import { DamagedPage } from '../data/blobs.js';
import { Slices } from '../slices.js';

export class Graph {
  /** Checks that each row is in order and each edge leads to a section. */
  constructor(start, to, nodes) {
    if (start.length !== nodes + 1 || start[nodes] !== to.length)
      throw new DamagedPage('the graph has no end');
    for (let node = 0; node < nodes; node++) {
      if (start[node] > start[node + 1])
        throw new DamagedPage(`row ${node} of the graph ends before it begins`);
    }
    for (const node of to)
      if (node >= nodes) throw new DamagedPage(`an edge leads to ${node} of ${nodes} sections`);
    this.start = start;
    this.to = to;
    this.nodes = nodes;
  }

  /** What `node` leads to. */
  from(node) {
    return this.to.subarray(this.start[node], this.start[node + 1]);
  }

  /** The graph with each edge the other way round. */
  reversed() {
    const { nodes, to } = this;
    const start = new Uint32Array(nodes + 1);
    for (const node of to) start[node + 1]++;
    for (let node = 0; node < nodes; node++) start[node + 1] += start[node];
    const next = start.slice(0, nodes);
    const back = new Uint32Array(to.length);
    for (let node = 0; node < nodes; node++) {
      for (let edge = this.start[node]; edge < this.start[node + 1]; edge++) back[next[to[edge]]++] = node;
    }
    return new Graph(start, back, nodes);
  }

  /**
   * The node before each on a shortest path from one of `roots`, + 1; a root's is itself + 1, 0 is for nodes
   * that none reaches. By breadth, in slices.
   */
  async shortestPaths(roots, slices = new Slices()) {
    const before = new Uint32Array(this.nodes);
    const queue = new Uint32Array(this.nodes);
    let end = 0;
    for (const root of roots) {
      if (root >= this.nodes || before[root]) continue;
      before[root] = root + 1;
      queue[end++] = root;
    }
    for (let at = 0; at < end; at++) {
      const node = queue[at];
      for (let edge = this.start[node]; edge < this.start[node + 1]; edge++) {
        const next = this.to[edge];
        if (before[next]) continue;
        before[next] = node + 1;
        queue[end++] = next;
      }
      if (at % 8192 === 0) await slices.rest();
    }
    return before;
  }
}

/** The path to `node` that `before` (of `shortestPaths`) holds, its root first; empty if there is none. */
export function pathTo(before, node) {
  const path = [];
  for (let at = node; before[at]; at = before[at] - 1) {
    path.push(at);
    if (before[at] - 1 === at) return path.reverse();
  }
  return [];
}
