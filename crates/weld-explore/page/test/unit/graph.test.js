import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Graph, pathTo } from '../../src/graph/csr.js';
import { dominators } from '../../src/graph/dominators.js';
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
  const { input_section: roots, reason, symbol } = made.tables.roots;
  const root = roots.indexOf(path[0]);
  assert.equal(why.rootReason(path[0]), ['entry _start', 'exported api_version'][root]);
  // Pages of older versions have the symbol in the reason.
  made.tables.roots = { input_section: roots, reason };
  const older = new Why(await modelOf(made));
  assert.equal(older.rootReason(path[0]), ['entry', 'exported'][root]);
  made.tables.roots = { input_section: roots, reason, symbol };
  for (let i = 1; i < path.length; i++)
    assert.ok(to.slice(start[path[i - 1]], start[path[i - 1] + 1]).includes(path[i]));
  assert.equal(path.at(-1), last);
  for (const from of why.referrers(last)) assert.ok(why.references(from).includes(last));
  const kept = await why.kept();
  const nodes = made.tables.input_sections.name.length;
  const { input_section: of, size } = made.tables.pieces;
  const keeps = new Array(nodes).fill(0);
  of.forEach((id, piece) => {
    for (let at = id - 1; at >= 0; at = kept.heldBy(at)) keeps[at] += size[piece];
  });
  for (let section = 0; section < nodes; section++) {
    const holder = kept.heldBy(section);
    if (holder >= 0) assert.ok(kept.holds(holder).includes(section));
    assert.equal(kept.bytes(section), keeps[section]);
  }
});

function graphOf(lists) {
  const start = [0];
  for (const list of lists) start.push(start.at(-1) + list.length);
  return new Graph(Uint32Array.from(start), Uint32Array.from(lists.flat()), lists.length);
}

test('dominators of a diamond, of several roots, and of what is not reached', async () => {
  const diamond = graphOf([[1, 2], [3], [3], [3, 4], [3]]);
  assert.deepEqual([...(await dominators(diamond, [0]))], [0, 1, 1, 1, 4]);
  const roots = graphOf([[2], [2], [3], [], [3]]);
  assert.deepEqual([...(await dominators(roots, [0, 1, 1, 7]))], [0, 0, 0, 3, 0]);
});

test('dominators in the example of Lengauer and Tarjan', async () => {
  const number = c => (c === 'R' ? 0 : c.charCodeAt(0) - 64);
  const lists = Array.from({ length: 13 }, () => []);
  for (const edge of 'RA RB RC AD BA BD BE CF CG DL EH FI GI GJ HE HK IK JI KI KR LH'.split(' '))
    lists[number(edge[0])].push(number(edge[1]));
  const want = [...'-RRRRRCCRRGRD'].map(c => (c === '-' ? 0 : number(c) + 1));
  assert.deepEqual([...(await dominators(graphOf(lists), [0]))], want);
});

test('dominators of random graphs, against the definition', async () => {
  let seed = 7;
  const below = limit => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed >>> 8) % limit;
  };
  for (let round = 0; round < 200; round++) {
    const nodes = 2 + below(12);
    const lists = Array.from({ length: nodes }, () => []);
    for (let edges = below(30); edges > 0; edges--) lists[below(nodes)].push(below(nodes));
    const roots = [below(nodes), below(nodes)];
    const found = await dominators(graphOf(lists), roots);
    const reached = without => {
      const seen = new Set();
      const stack = [...roots];
      while (stack.length > 0) {
        const at = stack.pop();
        if (at === without || seen.has(at)) continue;
        seen.add(at);
        stack.push(...lists[at]);
      }
      return seen;
    };
    const all = reached(-1);
    for (let section = 0; section < nodes; section++) {
      const left = reached(section);
      const gone = [...all].filter(at => !left.has(at)).sort();
      const below = at => at === section || (found[at] > 0 && below(found[at] - 1));
      const held = [...all].filter(below).sort();
      assert.deepEqual(held, gone, `${section} of ${JSON.stringify(lists)} from ${roots}`);
    }
  }
});

test('dominators of a long chain need no stack', async () => {
  const nodes = 300000;
  const start = Uint32Array.from({ length: nodes + 1 }, (_, node) => Math.min(node, nodes - 1));
  const to = Uint32Array.from({ length: nodes - 1 }, (_, node) => node + 1);
  const found = await dominators(new Graph(start, to, nodes), [0]);
  assert.equal(found[nodes - 1], nodes - 1);
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
});
