import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Libraries } from '../../src/graph/libraries.js';
import { DamagedPage } from '../../src/data/blobs.js';
import { program } from '../synthetic.js';
import { modelOf } from './model-of.js';

test('who needs which library, from both ends', async () => {
  const made = program({ pieces: 400 });
  const libraries = new Libraries(await modelOf(made));
  assert.ok(libraries.known);
  const all = libraries.all();
  assert.deepEqual(
    all.map(({ name }) => name),
    ['libstdc++.so.6', 'libidle.so.1', 'libc.so.6', 'the file does not say which'],
  );
  assert.deepEqual(all[1].symbols, []);
  assert.deepEqual(all[3].symbols, [{ name: 'stray', sections: [] }]);
  const rows = made.tables.imports.library.length;
  const told = all.flatMap(({ symbols }) => symbols.flatMap(({ sections }) => sections));
  assert.equal(told.length, rows - 1);
  for (const { name, symbols } of all)
    for (const symbol of symbols)
      for (const section of symbol.sections)
        assert.ok(
          libraries.of(section).some(found => found.library === name && found.symbol === symbol.name),
        );
});

test('pages without libraries, and damaged ones', async () => {
  const none = new Libraries(await modelOf(program({ pieces: 100, libraries: false })));
  assert.equal(none.known, false);
  assert.deepEqual(none.all(), []);
  assert.deepEqual(none.of(0), []);
  const made = program({ pieces: 100 });
  made.tables.imports.library[3] = 9;
  const damaged = new Libraries(await modelOf(made));
  assert.throws(() => damaged.all(), DamagedPage);
});
