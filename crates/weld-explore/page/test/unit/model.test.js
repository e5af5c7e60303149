import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Model } from '../../src/data/model.js';
import { KIND, kindOf, roleOf } from '../../src/data/kinds.js';
import { program } from '../synthetic.js';
import { modelOf } from './model-of.js';

test('a page comes back as it was written', async () => {
  const made = program({ pieces: 300 });
  const model = await modelOf(made);
  assert.deepEqual([...model.size], made.tables.pieces.size);
  assert.deepEqual([...model.section], made.tables.pieces.input_section);
  const sum = model.size.reduce((total, size) => total + size, 0);
  assert.equal(sum, made.meta.file_size);
});

test('each piece has an object and an archive by its section', async () => {
  const made = program({ pieces: 300 });
  const model = await modelOf(made);
  const { pieces, input_sections: sections, objects } = made.tables;
  pieces.input_section.forEach((section, piece) => {
    const object = section ? sections.object[section - 1] : 0;
    assert.equal(model.object[piece], object);
    assert.equal(model.archive[piece], object ? objects.archive[object - 1] : 0);
  });
});

test('kinds by words', () => {
  assert.equal(kindOf('code'), KIND.code);
  assert.equal(kindOf('debug information'), KIND.debug);
  assert.equal(kindOf('read-only data'), KIND.readOnly);
  assert.equal(kindOf(undefined), KIND.other);
  assert.equal(roleOf('padding'), KIND.padding);
  assert.equal(roleOf('contents'), -1);
});

test('references to what is not there are damage', async () => {
  for (const [table, column, value] of [
    ['pieces', 'input_section', 99999],
    ['pieces', 'output_section', 999],
    ['input_sections', 'object', 99999],
    ['objects', 'archive', 999],
  ]) {
    const made = program({ pieces: 200 });
    made.tables[table][column][3] = value;
    const model = await modelOf(made);
    assert.throws(() => model.archive && model.kind, /refers to/, `${table}.${column}`);
  }
});

test('another format is told', () =>
  assert.throws(() => new Model({ format: 2 }, null, new Map()), /format 2/));

test('columns outside their part, or of other lengths, are damage', async () => {
  const made = program({ pieces: 200 });
  for (const change of [{ offset: 1e9 }, { offset: -1 }, { bytes: 1e9 }, { count: 3 }, { blob: 'nowhere' }]) {
    const model = await modelOf(made);
    Object.assign(model.tables.columns.get('pieces.role'), change);
    assert.throws(() => model.kind, undefined, JSON.stringify(change));
  }
});
