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
    const shorter = (text, i) => {
      const before = this.list[i - 1] ?? '';
      const repeats = Buffer.byteLength(before) >= 4 && text.endsWith(before);
      return repeats ? `${text.slice(0, text.length - before.length)}\x01` : text;
    };
    return Buffer.from(this.list.map((text, i) => `${shorter(text, i)}\0`).join(''), 'utf8');
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

/** The same for numbers with zeroes among them. */
export function sparse(numbers) {
  let before = 0;
  return uleb(
    Array.from(numbers, number => {
      if (number === 0) return 0;
      const step = number - before;
      before = number;
      return zigzag(step) + 1;
    }),
  );
}

// The tables as a page has them: what is mostly near something else is stored as its distance.
function stored({ graph, ...tables }) {
  const all = { ...tables };
  if (all.pieces?.memory) {
    const { memory, ...others } = all.pieces;
    all.pieces = {
      ...others,
      memory_step: Array.from(memory, (bytes, i) => zigzag(bytes - others.size[i])),
    };
  }
  const { dominator } = all.input_sections ?? {};
  if (dominator) {
    const steps = dominator.map((id, i) => (id ? zigzag(id - 1 - i) : 0));
    all.input_sections = { ...all.input_sections, dominator: steps };
  }
  if (graph) {
    const [references, step] = [[], []];
    for (let i = 0; i + 1 < graph.start.length; i++) {
      const list = graph.to.slice(graph.start[i], graph.start[i + 1]).sort((a, b) => a - b);
      references.push(list.length);
      list.forEach((to, k) => step.push(k ? to - list[k - 1] : zigzag(to - i)));
    }
    all.input_sections = { ...all.input_sections, references };
    all.references = { step };
  }
  return all;
}

/** `bytes` as text of seven bits a character, highest first; what an element cannot have is 128 further. */
export function septets(bytes) {
  let text = '';
  let bits = 0;
  let have = 0;
  const put = septet => (text += String.fromCharCode([0, 13, 60].includes(septet) ? septet + 128 : septet));
  for (const byte of bytes) {
    bits = ((bits & 127) << 8) | byte;
    for (have += 8; have >= 7;) put((bits >> (have -= 7)) & 127);
  }
  if (have > 0) put((bits << (7 - have)) & 127);
  return text;
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
  'references',
  'dominator',
]);

// References and names with none among them.
const SPARSE = new Set([
  'objects.archive',
  'pieces.input_section',
  'pieces.name',
  'pieces.source',
  'pieces.instance',
  'imports.library',
  'imports.input_section',
]);

/**
 * A page: `meta` without names and columns, `names` a NameTable, `tables` of arrays by table and column. Tables
 * of references go to a blob of their own.
 */
export function page(meta, names, tables) {
  const blobs = { tables: [], graph: [] };
  const sizes = { tables: 0, graph: 0 };
  const columns = [];
  for (const [table, content] of Object.entries(stored(tables))) {
    for (const [column, numbers] of Object.entries(content)) {
      const encoding = ULEB.has(column) ? 'uleb' : SPARSE.has(`${table}.${column}`) ? 'sparse' : 'delta';
      const bytes = { uleb, delta, sparse }[encoding](numbers);
      const blob =
        ['references', 'roots', 'libraries', 'imports'].includes(table) ||
        ['dominator', 'references', 'asked_by', 'asked_for'].includes(column)
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
      JSON.stringify({ format: 2, weld: '0.1.0', ...meta, names: names.list.length, columns }).replaceAll(
        '<',
        '\\u003c',
      ),
    ),
  ];
  const blob = (name, bytes) =>
    elements.push(element('application/octet-stream', name, septets(gzipSync(bytes, { level: 6 }))));
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
