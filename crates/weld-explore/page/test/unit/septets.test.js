import { test } from 'node:test';
import assert from 'node:assert/strict';
import { fromSeptets } from '../../src/data/blobs.js';
import { Names } from '../../src/data/names.js';
import { septets, NameTable } from '../writer.js';

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

test('names that end with the one before', () => {
  const texts = [
    'main',
    '.text.main',
    '.text.main()',
    'abc',
    '.abc',
    'ä::main',
    'y::ä::main',
    'z::y::ä::main',
  ];
  const table = new NameTable();
  texts.forEach(text => table.id(text));
  const packed = table.bytes();
  assert.equal(packed.filter(byte => byte === 1).length, 3);
  const names = new Names(packed, table.list.length);
  texts.forEach((text, i) => assert.equal(names.get(i + 1), text));
  assert.equal(names.asText().all, ['', ...texts, ''].join('\0'));
});

test('what is not at the end of a name stands for itself', () => {
  const names = new Names(Buffer.from('\0a\x01b\0\x01\x01\0\x01\0'), 4);
  assert.deepEqual(
    [1, 2, 3].map(id => names.get(id)),
    ['a\x01b', '\x01a\x01b', '\x01a\x01b'],
  );
  assert.equal(names.asText().all, '\0a\x01b\0\x01a\x01b\0\x01a\x01b\0');
});
