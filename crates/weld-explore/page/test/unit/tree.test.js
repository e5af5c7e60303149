import { test } from 'node:test';
import assert from 'node:assert/strict';
import { partition, largestFirst } from '../../src/group/partition.js';
import { GROUPINGS } from '../../src/group/groupings.js';
import { Tree, pathOf } from '../../src/group/tree.js';
import { makeScene, totals } from '../../src/scene.js';
import { readHash } from '../../src/state.js';
import { layout, boxAt } from '../../src/view/layout.js';
import { childRows, pieceRows } from '../../src/view/rows.js';
import { program } from '../synthetic.js';
import { modelOf } from './model-of.js';

async function treeOf(options, by, state = {}) {
  const model = await modelOf(program(options));
  const scene = makeScene(model, { ...readHash(''), debug: 'with', ...state });
  return {
    model,
    scene,
    tree: new Tree(
      model,
      GROUPINGS.find(({ id }) => id === by),
      scene.area,
      scene.shows,
      'prog',
    ),
  };
}

// All pieces below a node, each level checked: children fill their parent, largest first, no piece twice.
function walk(node, seen) {
  if (node.isLeaf) {
    if (node.piece >= 0) seen.add(node.piece);
    return;
  }
  const { groups } = node;
  assert.equal(groups.lo[0], node.lo);
  assert.equal(groups.lo[groups.n], node.hi);
  let sum = 0;
  for (let i = 0; i < groups.n; i++) {
    if (i > 0) assert.ok(groups.area[i] <= groups.area[i - 1], 'largest first');
    sum += groups.area[i];
    walk(node.child(i), seen);
  }
  assert.equal(sum, node.value);
}

test('partition sorts by key, largest sum first', () => {
  const order = Uint32Array.from([0, 1, 2, 3, 4]);
  const groups = partition(order, 1, 5, Uint32Array.from([7, 3, 7, 9]), 10, [100, 1, 50, 2, 4]);
  assert.deepEqual([...groups.key], [3, 9, 7]);
  assert.deepEqual([...groups.area], [50, 4, 3]);
  assert.deepEqual([...groups.lo], [1, 2, 3, 5]);
  assert.deepEqual([...order], [0, 2, 4, 1, 3]);
});

test('largest first, small and large numbers', () => {
  assert.deepEqual([...largestFirst([3, 9, 9, 1])], [1, 2, 0, 3]);
  assert.deepEqual([...largestFirst([2 ** 52, 2 ** 53 - 1, 5])], [1, 0, 2]);
  assert.deepEqual([...largestFirst([])], []);
});

for (const { id } of GROUPINGS) {
  for (const options of [{ pieces: 1500 }, { pieces: 600, hostile: true }, { pieces: 1500, old: true }]) {
    test(`every byte is in the tree by ${id} once (${JSON.stringify(options)})`, async () => {
      const { model, scene, tree } = await treeOf(options, id);
      const seen = new Set();
      walk(tree.root, seen);
      const wanted = scene.area.reduce((count, area) => count + (area > 0 ? 1 : 0), 0);
      assert.equal(seen.size, wanted);
      if (!options.old) assert.equal(tree.root.value, model.meta.file_size);
    });
  }
}

test('debug information and the rest are the file', async () => {
  const { model } = await treeOf({ pieces: 1500 }, 'section');
  const parts = ['without', 'only'].map(
    debug => totals(model, makeScene(model, { ...readHash(''), debug })).shown,
  );
  assert.ok(parts.every(part => part > 0));
  assert.equal(parts[0] + parts[1], model.meta.file_size);
});

test('a source tree has the directories, chains joined', async () => {
  const { tree } = await treeOf({ pieces: 2000 }, 'source');
  const labels = [];
  for (let i = 0; i < tree.root.groups.n; i++) labels.push(tree.root.child(i).label);
  assert.ok(labels.includes('/home/dev'), labels.join());
  assert.ok(labels.includes('/usr/include/c++/12/bits'), labels.join());
  const engine = tree.find(['/home/dev', 'engine/src']);
  assert.equal(engine.label, 'engine/src', 'a chain of directories is one group');
  assert.ok(engine.groups.n > 1);
});

test('namespaces are groups, and functions in them', async () => {
  const { tree } = await treeOf({ pieces: 3000 }, 'namespace');
  const engine = tree.find(['engine']);
  assert.equal(engine.label, 'engine');
  assert.ok(engine.count > 10);
  for (let i = engine.lo; i < engine.hi; i++) assert.match(tree.model.pieceName(tree.order[i]), /engine::/);
});

test('what has no name is grouped by what it is in', async () => {
  const { tree } = await treeOf({ pieces: 3000 }, 'namespace');
  const nameless = tree.find(['(no name)']);
  const labels = [...Array(nameless.groups.n).keys()].map(i => nameless.child(i).label);
  assert.ok(labels.includes('.debug_info') && labels.includes('.symtab'), labels.join());
});

test('instances are summed over what they are instances of', async () => {
  const { tree, model } = await treeOf({ pieces: 3000 }, 'instance');
  const all = tree.find(['instances of templates and generics']);
  const instance = model.tables.column('pieces.instance');
  const sums = new Map();
  instance.forEach((id, piece) => id && sums.set(id, (sums.get(id) ?? 0) + model.size[piece]));
  assert.equal(all.groups.n, sums.size);
  for (let i = 0; i < all.groups.n; i++) assert.equal(all.groups.area[i], sums.get(all.groups.key[i]));
});

test('paths lead back to their nodes, rests too', async () => {
  const { tree } = await treeOf({ pieces: 3000 }, 'section');
  const deep = tree.root.child(0).child(0).child(0);
  assert.equal(tree.find(pathOf(deep)), deep);
  const rest = tree.root.child(0).rest(3);
  assert.equal(tree.find(pathOf(rest)), rest);
  assert.equal(tree.find(['no such thing']), tree.root);
  const found = tree.locate(deep.tree.order[deep.lo]);
  assert.ok(found.ancestors.includes(deep));
});

for (const budget of [Infinity, 0]) {
  test(`boxes do not overlap and are as large as their bytes (budget ${budget})`, async () => {
    const { tree } = await treeOf({ pieces: 5000 }, 'section');
    let boxes = layout(tree.root, 1000, 700, budget);
    for (let i = 0; !boxes.complete && i < 50000; i++) boxes = layout(tree.root, 1000, 700, budget);
    assert.ok(boxes.complete);
    const tops = boxes.filter(box => box.depth === 1);
    for (const box of tops) {
      const area = (box.x1 - box.x0) * (box.y1 - box.y0);
      assert.ok(Math.abs(area - (700000 * box.value) / tree.root.value) < 1);
    }
    for (const box of boxes) {
      if (!box.around) continue;
      assert.ok(
        box.x0 >= box.around.x0 - 1e-6 &&
          box.x1 <= box.around.x1 + 1e-6 &&
          box.y0 >= box.around.y0 - 1e-6 &&
          box.y1 <= box.around.y1 + 1e-6,
      );
    }
    const leaf = boxes.findLast(box => !box.isOpen);
    assert.equal(boxAt(boxes, (leaf.x0 + leaf.x1) / 2, (leaf.y0 + leaf.y1) / 2), leaf);
  });
}

test('rows of the table sum up to the node, and sort', async () => {
  const { tree, scene } = await treeOf({ pieces: 2000, old: true }, 'section');
  for (const rows of [childRows(tree.root, scene), pieceRows(tree.root, scene)]) {
    const sum = rows.size.reduce((total, size) => total + size, 0);
    assert.equal(sum, tree.root.sum(scene.size));
    for (const column of ['size', 'old', 'delta', 'count', 'name']) {
      rows.sort(column, true);
      const values = [...rows.shown].map(row =>
        column === 'delta' ? rows.delta(row) : column === 'name' ? 0 : rows[column][row],
      );
      assert.deepEqual(
        values,
        [...values].sort((a, b) => b - a),
        column,
      );
    }
  }
});
