import { test } from 'node:test';
import assert from 'node:assert/strict';
import { baseName, bytes, change, percent, shown, plural } from '../../src/format.js';
import { readHash, writeHash } from '../../src/state.js';
import { patternOf, parseQuery, search } from '../../src/search.js';
import { changeColour, coloursOf, mix } from '../../src/view/colours.js';
import { program, HOSTILE } from '../synthetic.js';
import { modelOf } from './model-of.js';

test('numbers for people', () => {
  assert.deepEqual([0, 999, 1000, 12345, 999999, 123456789].map(bytes), [
    '0 B',
    '999 B',
    '1.00 kB',
    '12.3 kB',
    '1.00 MB',
    '123 MB',
  ]);
  assert.deepEqual([1500, -1500, 0].map(change), ['+1.50 kB', '−1.50 kB', '0 B']);
  assert.deepEqual(
    [percent(1, 3), percent(1, 1e6), percent(0, 5), percent(1, 0)],
    ['33.3 %', '<0.01 %', '0.00 %', ''],
  );
  assert.deepEqual([plural(1, 'piece'), plural(1200, 'piece')], ['1 piece', '1,200 pieces']);
});

test('last parts of paths', () => {
  assert.deepEqual(['/a/b', 'C:\\x\\y.dll', 'plain', 'a/'].map(baseName), ['b', 'y.dll', 'plain', 'a/']);
});

test('what would not show is spelled out', () => {
  assert.equal(shown('a\u202eb\n\u0007'), 'a\\u202eb\\u000a\\u0007');
  assert.equal(shown('x'.repeat(50), 10), `${'x'.repeat(10)}…`);
});

test('addresses hold the whole view', () => {
  const state = {
    ...readHash(''),
    by: 'namespace',
    group: ['a', 'b/c'],
    path: ['a/b', '%2F', '~rest:3', ...HOSTILE],
    find: 'x&y=#%',
    regex: true,
    sort: 'name',
    down: false,
    piece: 12,
    debug: 'with',
    size: 'memory',
    tab: 'pieces',
  };
  assert.deepEqual(readHash(writeHash(state)), state);
  assert.equal(writeHash(readHash('')), '#');
  assert.deepEqual(readHash('#piece=-1&nonsense&path='), { ...readHash(''), path: [''] });
});

test('searches: text, capitals, fields, expressions', async () => {
  assert.ok(patternOf('a.b', false).test('xA.Bx'));
  assert.ok(!patternOf('A.b', false).test('a.b'));
  assert.ok(!patternOf('a.b', false).test('aXb'));
  assert.throws(() => patternOf('(', true), SyntaxError);
  assert.deepEqual(parseQuery('object: main.o'), { field: 'object', text: 'main.o' });
  assert.deepEqual(parseQuery('std::vector'), { field: null, text: 'std::vector' });
  const model = await modelOf(program({ pieces: 800 }));
  const run = (text, isRegex = false) => search(model, { text, isRegex }, () => false);
  const names = [...Array(model.pieces).keys()].map(piece => model.nameOf('pieces.name', piece));
  const expected = test => names.map(name => (test.test(name) ? 1 : 0));
  assert.deepEqual([...(await run('symbol:render'))], expected(/render/i));
  assert.deepEqual([...(await run('symbol:^engine::(scene|net)', true))], expected(/^engine::(scene|net)/i));
  const byObject = await run('object:.o');
  assert.deepEqual(
    [...byObject],
    [...model.object].map(object => (object ? 1 : 0)),
  );
  assert.equal(
    (await run('zzzz no such')).reduce((a, b) => a + b),
    0,
  );
});

test('searches for sections that are called for symbols', async () => {
  const made = program({ pieces: 400 });
  const { input_sections: sections, pieces } = made.tables;
  // Every third is called for its first piece, every seventh for a symbol of another.
  const first = sections.name.map((_, row) => pieces.input_section.indexOf(row + 1));
  const front = made.names.id('.text.hot.');
  const symbol = row =>
    row % 3 === 0 && first[row] >= 0 ? pieces.name[first[row]] : row % 7 ? 0 : pieces.name[9];
  const called = sections.name.map((name, row) => (symbol(row) ? front : name));
  sections.symbol = called.map((_, row) => {
    const id = symbol(row);
    return id && first[row] >= 0 && id === pieces.name[first[row]] ? 1 : id && id + 1;
  });
  sections.name = called;
  const model = await modelOf(made);
  const names = called.map(
    (name, row) => made.names.list[name] + (symbol(row) ? made.names.list[symbol(row)] : ''),
  );
  names.forEach((name, row) => assert.equal(model.sectionName(row + 1), name || '(no name)'));
  const some = names.find((name, row) => symbol(row) && name.length > 16).slice(5, 15);
  for (const text of [
    '.hot',
    some,
    some.toUpperCase(),
    '.hot.engine',
    't.',
    names[0],
    'e',
    '\\.hot\\.e',
    '^engine',
    'r$',
  ])
    for (const isRegex of [false, true]) {
      const pattern = patternOf(text, isRegex);
      const found = await search(model, { text: `section:${text}`, isRegex }, () => false);
      const expected = pieces.input_section.map(id => (id && pattern.test(names[id - 1]) ? 1 : 0));
      assert.deepEqual([...found], expected, `${text} ${isRegex}`);
    }
});

test('colours of changes', () => {
  const colours = coloursOf('light');
  assert.equal(changeColour(colours, 5, 5), colours.same);
  assert.equal(changeColour(colours, 0, 5), colours.grew[2]);
  assert.equal(changeColour(colours, 100, 95), colours.shrank[0]);
  assert.equal(mix('#ffffff', '#000000', 0.5), '#808080');
});
