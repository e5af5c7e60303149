import { test } from 'node:test';
import assert from 'node:assert/strict';
import { fromSeptets } from '../../src/data/blobs.js';
import { septets } from '../writer.js';

test('bytes come back from seven bits a character', () => {
  // As weld's own tests have it.
  assert.deepEqual([...fromSeptets('\x7f@')], [255]);
  assert.deepEqual([...fromSeptets('\x8d\xbc\x80')], [0x1a, 0xf0]);
  const bytes = Uint8Array.from({ length: 3000 }, (_, i) => (i * i) >> 3);
  for (const length of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 3000]) {
    const text = septets(bytes.subarray(0, length));
    assert.deepEqual(fromSeptets(text), bytes.subarray(0, length));
    assert.doesNotMatch(text, /[\0\r<]/);
  }
});

test('other characters are errors', () => {
  assert.throws(() => fromSeptets('ab\u0151'), RangeError);
});
