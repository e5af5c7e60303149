// What the table shows: the children of a node, or all pieces in it, as columns of numbers, sorted.

import { largestFirst, numbersFrom } from '../group/partition.js';

export class Rows {
  /**
   * `entries` has a start and an end in `order` for each row (`lo`, one more than rows), `node(i)` and `name(i)`.
   * `scene` has columns with a number a piece. With a search only rows with something found are in, and sizes
   * are of what was found.
   */
  constructor(entries, order, scene) {
    const { lo } = entries;
    const n = lo.length - 1;
    this.entries = entries;
    this.size = new Float64Array(n);
    this.old = new Float64Array(n);
    this.count = new Float64Array(n);
    if (entries.area && !scene.found && !scene.compares) {
      this.size.set(entries.area);
      for (let row = 0; row < n; row++) this.count[row] = lo[row + 1] - lo[row];
    } else this.#sum(lo, order, scene);
    this.shown = numbersFrom(0, n);
    if (scene.found) this.shown = this.shown.filter(row => this.count[row] > 0);
  }

  #sum(lo, order, { size, oldSize, found, compares }) {
    for (let row = 0; row < this.size.length; row++) {
      for (let i = lo[row]; i < lo[row + 1]; i++) {
        const piece = order[i];
        if (found && !found[piece]) continue;
        this.size[row] += size[piece];
        if (compares) this.old[row] += oldSize[piece];
        this.count[row]++;
      }
    }
  }

  get length() {
    return this.shown.length;
  }

  /** The change of a row. */
  delta(row) {
    return this.size[row] - this.old[row];
  }

  /** Sorts by a column: "name", "size", "old", "delta", "count". */
  sort(column, down) {
    if (column === 'name') {
      const collator = new Intl.Collator('en', { numeric: true });
      const names = new Map([...this.shown].map(row => [row, this.entries.name(row)]));
      this.shown.sort((a, b) => collator.compare(names.get(a), names.get(b)));
      if (down) this.shown.reverse();
      return;
    }
    const values = new Float64Array(this.length);
    const numbers = this[column];
    for (let i = 0; i < values.length; i++) {
      const row = this.shown[i];
      values[i] = column === 'delta' ? this.delta(row) : numbers[row];
    }
    const sorted = largestFirst(offset(values));
    for (let i = 0; i < sorted.length; i++) sorted[i] = this.shown[sorted[i]];
    this.shown = sorted;
    if (!down) this.shown.reverse();
  }
}

// Numbers from zero on in the same order.
function offset(values) {
  let least = 0;
  for (const value of values) if (value < least) least = value;
  return least < 0 ? values.map(value => value - least) : values;
}

/** Rows for the children of `node`. */
export function childRows(node, scene) {
  const { groups, tree } = node;
  const entries = {
    lo: groups.lo,
    area: groups.area,
    node: row => node.child(row),
    name: row => tree.labelOf(groups, row),
    isGroup: row => Boolean(groups.level) && groups.lo[row + 1] - groups.lo[row] > 1,
    piece: row => (groups.lo[row + 1] - groups.lo[row] === 1 ? tree.order[groups.lo[row]] : -1),
  };
  return new Rows(entries, tree.order, scene);
}

/** Rows for all pieces below `node`. */
export function pieceRows(node, scene) {
  const { tree } = node;
  // The order of the tree changes when it is opened further; the table keeps its own.
  const order = tree.order.slice(node.lo, node.hi);
  const entries = {
    lo: numbersFrom(0, order.length + 1),
    node: () => null,
    name: row => tree.model.pieceName(order[row]),
    isGroup: () => false,
    piece: row => order[row],
  };
  return new Rows(entries, order, scene);
}
