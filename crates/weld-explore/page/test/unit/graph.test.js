import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Graph, pathTo } from '../../src/graph/csr.js';
import { Why } from '../../src/graph/why.js';
import { program } from '../synthetic.js';
import { modelOf } from './model-of.js';

//  0 → 1 → 2 → 3,  0 → 3,  4 → 5, 5 → 4 (reached by none), 6 alone
const EDGES = [[1, 3], [2], [3], [], [5], [4], []];

function graph() {
  const start = [0];
  for (const row of EDGES) start.push(start.at(-1) + row.length);
  return new Graph(Uint32Array.from(start), Uint32Array.from(EDGES.flat()), EDGES.length);
}

test('shortest paths', async () => {
  const before = await graph().shortestPaths([0]);
  assert.deepEqual(pathTo(before, 3), [0, 3]);
  assert.deepEqual(pathTo(before, 2), [0, 1, 2]);
  assert.deepEqual(pathTo(before, 0), [0]);
  assert.deepEqual(pathTo(before, 5), []);
});

test('the nearer root is taken', async () => {
  const before = await graph().shortestPaths([0, 2, 99, 2]);
  assert.deepEqual(pathTo(before, 2), [2]);
});

test('reversed', () => {
  const back = graph().reversed();
  assert.deepEqual([...back.from(3)].sort(), [0, 2]);
  assert.deepEqual([...back.from(6)], []);
});

test('damaged graphs are told', () => {
  assert.throws(() => new Graph(Uint32Array.of(0, 1), Uint32Array.of(7), 1));
  assert.throws(() => new Graph(Uint32Array.of(0, 2, 1), Uint32Array.of(0), 2));
  assert.throws(() => new Graph(Uint32Array.of(0, 1), Uint32Array.of(), 1));
  assert.throws(() => new Graph(Uint32Array.of(0), Uint32Array.of(), 1));
});

test('why: path, reason, referrers, what is kept', async () => {
  const made = program({ pieces: 400 });
  const why = new Why(await modelOf(made));
  const { start, to } = made.tables.graph;
  const last = made.tables.input_sections.name.length - 1;
  const path = await why.path(last);
  assert.ok(path.length > 0);
  assert.ok(why.rootReason(path[0]) !== '');
  for (let i = 1; i < path.length; i++)
    assert.ok(to.slice(start[path[i - 1]], start[path[i - 1] + 1]).includes(path[i]));
  assert.equal(path.at(-1), last);
  for (const from of why.referrers(last)) assert.ok(why.references(from).includes(last));
  const { dominator } = made.tables.input_sections;
  const { input_section: of, size } = made.tables.pieces;
  const keeps = new Array(dominator.length).fill(0);
  of.forEach((id, piece) => {
    for (let at = id; at; at = dominator[at - 1]) keeps[at - 1] += size[piece];
  });
  dominator.forEach((id, section) => {
    assert.equal(why.heldBy(section), id - 1);
    if (id) assert.ok(why.holds(id - 1).includes(section));
    assert.equal(why.keeps(section), keeps[section]);
  });
});

test('who asked for an archive member, without going in circles', async () => {
  const made = program({ pieces: 400 });
  const { objects } = made.tables;
  objects.asked_by = objects.asked_by.map(() => 0);
  objects.asked_by[3] = 3;
  objects.asked_by[2] = 5;
  objects.asked_by[4] = 4;
  const why = new Why(await modelOf(made));
  assert.deepEqual(
    why.askedFor(3).map(({ by }) => by),
    [2, 4, 3],
  );
  assert.deepEqual(why.askedFor(0), []);
});

test('pages without a graph say so', async () => {
  const why = new Why(await modelOf(program({ pieces: 100, graph: false })));
  assert.equal(why.known, false);
  assert.equal(why.hasDominators, false);
});
