import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Names } from '../../src/data/names.js';
import { NameTable } from '../writer.js';

function tableOf(texts) {
  const table = new NameTable();
  texts.forEach(text => table.id(text));
  return table;
}

test('names are found by their place', () => {
  const texts = [
    'main',
    '.text.main',
    'abc',
    'ä::main',
    'y::ä::main',
    'std::f(int)',
    'std::g(int)',
    'std::größe(int)',
    'a\x01b',
  ];
  const table = tableOf(texts);
  const packed = table.packed();
  assert.ok(packed.numbered > 2 && packed.codes.includes(2));
  const names = new Names(packed, table.list.length);
  texts.forEach((text, i) => assert.equal(names.get(i + 1), text));
  assert.deepEqual([names.get(0), names.get(texts.length + 1)], ['', '']);
  const { all, starts } = names.asText();
  assert.equal(all, ['', ...texts, ''].join('\0'));
  assert.equal(all.slice(starts[4], starts[5] - 1), 'ä::main');
});

test('codes of one, two and four bytes', () => {
  const words = Array.from({ length: 17000 }, (_, i) => `w${i}`);
  const table = tableOf(['.', '-', '+'].flatMap(mark => words.map(word => `${word}${mark}`)));
  const packed = table.packed();
  assert.ok(packed.numbered > 192 + 60 * 256 && packed.codes.includes(255));
  const names = new Names(packed, table.list.length);
  assert.equal(names.asText().all, table.list.map(text => `${text}\0`).join(''));
  for (const id of [1, 500, 40000]) assert.equal(names.get(id), table.list[id]);
});

test('as weld writes it', () => {
  // The same is in weld's own tests.
  const words = Buffer.from('a::\0f\0g\0h\0.\0text\0.\0f\0');
  const codes = Uint8Array.of(0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 1, 1, 1, 2, 0, 1, 0);
  const { all } = new Names({ words, numbered: 1, codes }, 6).asText();
  assert.equal(all, '\0a::f\0a::g\0a::h\0.text.a::h\0f\0');
});

test('names that are not what the description says are damage', () => {
  const words = Buffer.from('a\0b\0');
  const names =
    (codes, count, changed = {}) =>
    () =>
      new Names({ words, numbered: 1, codes: Uint8Array.from(codes), ...changed }, count);
  assert.doesNotThrow(names([0, 3, 1, 0], 2));
  for (const [what, damaged] of Object.entries({
    'more names': names([0, 3, 1, 0, 0], 2),
    'fewer names': names([0, 3, 1, 0], 3),
    'far fewer names': names([0, 3, 1, 0], 2 ** 40),
    'no end': names([0, 3, 1, 0, 3], 2),
    'a word that is not there': names([0, 4, 1, 0], 2),
    another: names([0, 195, 7, 1, 0], 2),
    'a third': names([0, 255, 0, 0, 0, 1, 0], 2),
    'a code that is cut off': names([0, 1, 0, 195], 2),
    'no word left': names([0, 1, 1, 0], 2),
    'a word too many': names([0, 3, 0], 2),
    'a repetition of nothing': names([2, 0, 3, 1, 0], 2),
    'a repetition inside of a name': names([0, 2, 3, 1, 0], 2),
    'fewer words': names([0, 3, 1, 0], 2, { numbered: 3 }),
    'no numbers': names([0, 3, 1, 0], 2, { numbered: undefined }),
    'no NUL behind a word': names([0, 3, 1, 0], 2, { words: Buffer.from('a\0b') }),
    'too long': names([0, ...Array(70000).fill([3, 2, 0]).flat(), 1, 0], 70002),
  })) {
    assert.throws(damaged, Error, what);
  }
});
