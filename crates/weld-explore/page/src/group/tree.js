// The tree behind the picture and the table, made as it is looked at.
//
// A node is a range of `order` (partition.js). Its children are "groups": arrays with a place for each child,
// largest first. Nodes as objects exist only for children that somebody sees. Children too small to see are
// together one node, the "rest", which can be opened like any other.

import { exact } from '../format.js';
import { numbersFrom, partition, sortPieces } from './partition.js';

export class Node {
  /** `kind` is 'group', 'piece' or 'rest'; `state` is what the grouping knows of a group. */
  constructor(tree, parent, { kind, lo, hi, area, label, state }) {
    this.tree = tree;
    this.parent = parent;
    this.kind = kind;
    this.lo = lo;
    this.hi = hi;
    /** What d3's tiling wants to know of it. */
    this.value = area;
    this.label = label;
    this.state = state;
    this.kids = new Map();
    this.cachedGroups = null;
  }

  /** Number of pieces. */
  get count() {
    return this.hi - this.lo;
  }

  /** The piece of a node with one only, else -1. */
  get piece() {
    return this.hi - this.lo === 1 ? this.tree.order[this.lo] : -1;
  }

  get isLeaf() {
    return this.hi - this.lo <= 1;
  }

  get depth() {
    return this.parent ? this.parent.depth + 1 : 0;
  }

  /** The nodes from the root to this one. */
  get ancestors() {
    return this.parent ? [...this.parent.ancestors, this] : [this];
  }

  /** Its children. */
  get groups() {
    if (!this.cachedGroups) this.cachedGroups = this.tree.split(this);
    return this.cachedGroups;
  }

  /** Child `index` of its groups. */
  child(index) {
    let node = this.kids.get(index);
    if (!node) {
      node = this.tree.makeChild(this, index);
      this.kids.set(index, node);
    }
    return node;
  }

  /** The node of all children from `index` on. */
  rest(index) {
    const key = -1 - index;
    let node = this.kids.get(key);
    if (!node) {
      const groups = this.groups;
      const label = `${exact(groups.n - index)} smaller ones`;
      const [lo, hi] = [groups.lo[index], groups.lo[groups.n]];
      let area = 0;
      for (let i = index; i < groups.n; i++) area += groups.area[i];
      node = new Node(this.tree, this, { kind: 'rest', lo, hi, area, label, state: this.state });
      node.cachedGroups = slice(groups, index);
      node.restFrom = index;
      this.kids.set(key, node);
    }
    return node;
  }

  /** Sum of `column` over its pieces. */
  sum(column) {
    return sumRange(this.tree.order, this.lo, this.hi, column);
  }
}

export function sumRange(order, lo, hi, column) {
  let sum = 0;
  for (let i = lo; i < hi; i++) sum += column[order[i]];
  return sum;
}

function slice(groups, from) {
  return {
    ...groups,
    n: groups.n - from,
    key: groups.key?.subarray(from),
    lo: groups.lo.subarray(from),
    area: groups.area.subarray(from),
  };
}

export class Tree {
  /**
   * `area` has a number for each piece, its size in the picture: pieces without are left out. `shows(piece)`
   * says of the others whether they are in.
   */
  constructor(model, grouping, area, shows, label) {
    this.model = model;
    this.area = area;
    const order = new Uint32Array(model.pieces);
    let n = 0;
    let total = 0;
    for (let piece = 0; piece < order.length; piece++) {
      if (area[piece] > 0 && shows(piece)) {
        order[n++] = piece;
        total += area[piece];
      }
    }
    this.order = order.subarray(0, n);
    this.grouping = grouping;
    this.run = grouping.start(model, this.order);
    this.root = new Node(this, null, {
      kind: 'group',
      lo: 0,
      hi: n,
      area: total,
      label,
      state: this.run.root,
    });
  }

  /** The children of `node`, as arrays: `lo` (one more), `area`, `key`, and the level that names them. */
  split(node) {
    if (node.parent && node.count <= 1) return this.#splitToPieces(node.lo, node.hi);
    return this.#splitRange(node.lo, node.hi, node.state);
  }

  #splitRange(lo, hi, state) {
    const level = this.run.level(state, this.order, lo, hi);
    if (!level) return this.#splitToPieces(lo, hi);
    const groups = partition(this.order, lo, hi, level.keyOf, level.keys, this.area);
    // A level that says nothing new (an object that is in no archive) is left out.
    if (groups.key.length === 1 && level.skips?.(groups.key[0])) {
      return this.#splitRange(lo, hi, level.state(groups.key[0]));
    }
    return { n: groups.key.length, ...groups, level };
  }

  #splitToPieces(lo, hi) {
    sortPieces(this.order, lo, hi, this.area);
    const area = new Float64Array(hi - lo);
    for (let i = lo; i < hi; i++) area[i - lo] = this.area[this.order[i]];
    return { n: hi - lo, key: null, lo: numbersFrom(lo, hi - lo + 1), area, level: null };
  }

  /** What child `index` of `groups` is called. */
  labelOf(groups, index) {
    const { lo, level } = groups;
    const piece = this.order[lo[index]];
    if (!level) return this.model.pieceName(piece);
    return level.label(groups.key[index], piece, lo[index + 1] - lo[index]);
  }

  makeChild(parent, index) {
    const groups = parent.groups;
    const [lo, hi] = [groups.lo[index], groups.lo[index + 1]];
    const kind = groups.level && hi - lo > 1 ? 'group' : 'piece';
    return new Node(this, parent, {
      kind,
      lo,
      hi,
      area: groups.area[index],
      label: this.labelOf(groups, index),
      state: groups.level?.state(groups.key[index]),
    });
  }

  /** The node at the end of `path` (labels from below the root on), as far as it goes. */
  find(path) {
    let node = this.root;
    for (const part of path) {
      const next = step(node, part);
      if (!next || next.isLeaf) break;
      node = next;
    }
    return node;
  }

  /** A node for `piece`, which is not in the tree. */
  outside(piece) {
    const place = { model: this.model, area: this.area, order: Uint32Array.of(piece), root: this.root };
    const label = this.model.pieceName(piece);
    return new Node(place, null, { kind: 'piece', lo: 0, hi: 1, area: this.area[piece], label, state: null });
  }

  /** The node of `piece` with its ancestors; null if it is not in the tree. */
  locate(piece) {
    if (!this.order.includes(piece)) return null;
    let node = this.root;
    while (!node.isLeaf) {
      const { groups } = node;
      const at = this.order.indexOf(piece, node.lo);
      let [low, high] = [0, groups.n - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (groups.lo[middle] <= at) low = middle;
        else high = middle - 1;
      }
      node = node.child(low);
    }
    return node;
  }
}

/** The path that leads to `node`: see [`Tree.find`]. */
export function pathOf(node) {
  return node.ancestors.slice(1).map(pathPart);
}

// How a path tells `node` from its siblings: its label, or the place where a rest starts.
function pathPart(node) {
  if (node.kind === 'rest') return `~rest:${node.restFrom}`;
  return node.label;
}

function step(node, part) {
  const rest = /^~rest:(\d+)$/.exec(part);
  if (rest) return Number(rest[1]) < node.groups.n ? node.rest(Number(rest[1])) : null;
  const { groups } = node;
  for (let i = 0; i < groups.n; i++) {
    if (node.tree.labelOf(groups, i) === part) return node.child(i);
  }
  return null;
}
