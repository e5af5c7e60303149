import { test } from 'node:test';
import assert from 'node:assert/strict';
import { decodeColumn, decodeAddresses } from '../../src/data/leb128.js';
import { uleb, delta, sparse, planes, runs } from '../writer.js';

test('numbers come back as they were', () => {
  const numbers = [0, 1, 127, 128, 300, 16383, 16384, 2 ** 28 - 1, 2 ** 28, 2 ** 32 - 1];
  const column = decodeColumn(uleb(numbers), numbers.length, 'uleb');
  assert.ok(column instanceof Uint32Array);
  assert.deepEqual([...column], numbers);
});

test('numbers that need more than 32 bits', () => {
  const numbers = [5, 2 ** 32, 2 ** 40 + 3, 2 ** 53 - 1];
  const column = decodeColumn(uleb(numbers), numbers.length, 'uleb');
  assert.ok(column instanceof Float64Array);
  assert.deepEqual([...column], numbers);
});

test('bytes by their place', () => {
  // As weld's own tests have it.
  const bytes = Uint8Array.of(3, 0, 1, 2, 3, 0xff, 0, 2, 1, 1);
  assert.deepEqual([...decodeColumn(bytes, 4, 'planes')], [0x10203, 0, 0xff, 0x100]);
  for (const numbers of [[], [0], [0, 1, 255, 256, 2 ** 32 - 1], [2 ** 53 - 1, 5]]) {
    const column = decodeColumn(planes(numbers), numbers.length, 'planes');
    assert.deepEqual([...column], numbers);
    assert.equal(column instanceof Uint32Array, !numbers.includes(2 ** 53 - 1));
  }
  for (const damaged of [
    bytes.subarray(0, 9),
    bytes.with(1, 9),
    bytes.with(0, 2),
    Uint8Array.of(9, ...Array(9).fill(1)),
  ])
    assert.throws(() => decodeColumn(damaged, damaged[0] === 9 ? 1 : 4, 'planes'));
});

test('differences', () => {
  for (const numbers of [
    [10, 3, 3, 4_000_000_000, 0, 1],
    [5, 2 ** 31 - 1, 0, 2 ** 31],
    [2 ** 40, 7, 2 ** 52],
  ]) {
    assert.deepEqual([...decodeColumn(delta(numbers), numbers.length, 'delta')], numbers);
  }
});

test('differences with zeroes among them', () => {
  assert.deepEqual([...sparse([0, 100, 0, 101, 101, 0])], [0, 201, 1, 0, 3, 1, 0]);
  for (const numbers of [
    [0, 10, 0, 0, 3, 3, 4_000_000_000, 0, 1],
    [0, 2 ** 40, 0, 7, 2 ** 50],
    [0, 0],
  ]) {
    assert.deepEqual([...decodeColumn(sparse(numbers), numbers.length, 'sparse')], numbers);
  }
});

test('runs', () => {
  const rows = [...Array(50).fill(0), ...Array(50).fill(9)];
  const slope = Array.from({ length: 100 }, (_, i) => (i < 50 ? 0 : i));
  // As weld's own tests have it.
  assert.deepEqual([...runs(rows, 'uleb')], [0, 49, 9, 49]);
  for (const numbers of [rows, slope, [], [7], [2 ** 40, 2 ** 40, 3]])
    for (const encoding of ['uleb', 'delta', 'sparse']) {
      const bytes = runs(numbers, encoding);
      const read = (some, count) => decodeColumn(some, count, `${encoding}-runs`);
      assert.deepEqual([...read(bytes, numbers.length)], numbers);
      if (numbers.length === 0) continue;
      assert.throws(() => read(bytes, numbers.length - 1));
      assert.throws(() => read(bytes, numbers.length + 1));
      assert.throws(() => read(bytes.subarray(0, bytes.length - 1), numbers.length));
    }
  assert.throws(() => decodeColumn(uleb([0, 2 ** 28]), 2 ** 28 + 1, 'uleb-runs'), /rows cannot be/);
  assert.throws(() => decodeColumn(Uint8Array.of(0, 0), 1, 'planes-runs'), /unknown/);
});

test('addresses are exact to 64 bits', () => {
  const numbers = [0xffffffff80000000n, 0n, 0x7fffffffffffffffn];
  assert.deepEqual([...decodeAddresses(uleb(numbers), 3, 'uleb')], numbers);
});

test('addresses by differences, which wrap round', () => {
  // From 0 to 2^64 - 2^31 is a step of -2^31.
  assert.deepEqual(
    [...decodeAddresses(uleb([2n ** 32n - 1n, 2n]), 2, 'delta')],
    [0xffffffff80000000n, 0xffffffff80000001n],
  );
});

test('an empty column', () => assert.equal(decodeColumn(new Uint8Array(), 0, 'uleb').length, 0));

for (const [what, bytes, count, encoding] of [
  ['ends in a number', [0x80], 1, 'uleb'],
  ['more rows than bytes', [1], 2, 'uleb'],
  ['a row too few', [1, 2], 1, 'uleb'],
  ['a number without an end', Array(40).fill(0xff), 1, 'uleb'],
  ['a huge count', [1], 2 ** 40, 'uleb'],
  ['a count below zero', [1], -1, 'uleb'],
  ['an unknown encoding', [1], 1, 'morse'],
  ['a difference below zero', [1], 1, 'delta'],
]) {
  test(`damage is told: ${what}`, () =>
    assert.throws(() => decodeColumn(Uint8Array.from(bytes), count, encoding)));
}
