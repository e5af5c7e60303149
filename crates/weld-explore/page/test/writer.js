// Writes pages by the contract between weld and the page: what weld does in Rust, for tests.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));

/** Strings with ids; 0 is the empty one. */
export class NameTable {
  constructor() {
    this.list = [''];
    this.ids = new Map([['', 0]]);
  }

  id(text) {
    let id = this.ids.get(text);
    if (id === undefined) {
      id = this.list.push(text) - 1;
      this.ids.set(text, id);
    }
    return id;
  }

  bytes() {
    return Buffer.from(this.list.map(text => `${text}\0`).join(''), 'utf8');
  }
}

/** Unsigned LEB128 of `numbers` (numbers or bigints). */
export function uleb(numbers) {
  const out = [];
  for (const number of numbers) {
    let value = number;
    if (typeof value === 'bigint') {
      for (; value > 127n; value >>= 7n) out.push(Number(value & 127n) | 128);
      out.push(Number(value));
      continue;
    }
    for (; value > 127; value = Math.floor(value / 128)) out.push((value % 128) | 128);
    out.push(value);
  }
  return Uint8Array.from(out);
}

const zigzag = step => (step < 0 ? -2 * step - 1 : 2 * step);

/** Zigzag LEB128 of the differences of `numbers`. */
export function delta(numbers) {
  let before = 0;
  return uleb(
    Array.from(numbers, number => {
      const step = number - before;
      before = number;
      return zigzag(step);
    }),
  );
}

// The columns of a table as a page has them: what is mostly near something else is stored as its distance.
function stored(table, content) {
  if (table === 'pieces' && content.memory) {
    const { memory, ...others } = content;
    return { ...others, memory_step: Array.from(memory, (bytes, i) => zigzag(bytes - content.size[i])) };
  }
  if (table === 'graph') {
    const step = [];
    for (let i = 0; i + 1 < content.start.length; i++) {
      for (let edge = content.start[i]; edge < content.start[i + 1]; edge++)
        step.push(zigzag(content.to[edge] - i));
    }
    return { start: content.start, step };
  }
  return content;
}

// Columns in which neighbours are not near each other; in the others differences are shorter.
const ULEB = new Set([
  'kind',
  'size',
  'memory_step',
  'old_size',
  'old_memory',
  'language',
  'role',
  'step',
  'keeps',
]);

/**
 * A page: `meta` without names and columns, `names` a NameTable, `tables` of arrays by table and column. Tables
 * of references go to a blob of their own.
 */
export function page(meta, names, tables) {
  const blobs = { tables: [], graph: [] };
  const sizes = { tables: 0, graph: 0 };
  const columns = [];
  for (const [table, content] of Object.entries(tables)) {
    for (const [column, numbers] of Object.entries(stored(table, content))) {
      const encoding = ULEB.has(column) ? 'uleb' : 'delta';
      const bytes = encoding === 'delta' ? delta(numbers) : uleb(numbers);
      const blob =
        ['graph', 'roots', 'libraries', 'imports'].includes(table) ||
        ['dominator', 'keeps', 'asked_by', 'asked_for'].includes(column)
          ? 'graph'
          : 'tables';
      columns.push({
        table,
        column,
        blob,
        encoding,
        offset: sizes[blob],
        bytes: bytes.length,
        count: numbers.length,
      });
      blobs[blob].push(bytes);
      sizes[blob] += bytes.length;
    }
  }
  const elements = [
    element(
      'application/json',
      'meta',
      JSON.stringify({ format: 1, weld: '0.1.0', ...meta, names: names.list.length, columns }).replaceAll(
        '<',
        '\\u003c',
      ),
    ),
  ];
  const blob = (name, bytes) =>
    elements.push(
      element('application/octet-stream', name, gzipSync(bytes, { level: 6 }).toString('base64')),
    );
  blob('names', names.bytes());
  blob('tables', Buffer.concat(blobs.tables));
  if (blobs.graph.length > 0) blob('graph', Buffer.concat(blobs.graph));
  return fill(elements.join('\n'));
}

function element(type, name, text) {
  return `<script type="${type}" id="weld-${name}">${text}</script>`;
}

/** The template with `data` in it. */
export function fill(data) {
  const template = readFileSync(join(here, '../dist/explorer.html'), 'utf8');
  return template.replace('<!-- weld-data -->', () => data);
}
