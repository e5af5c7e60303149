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

  /** As a page has them: words, how many of them have numbers, and codes. */
  packed() {
    const split = this.list.map((text, i) => {
      const before = this.list[i - 1] ?? '';
      const repeats = Buffer.byteLength(before) >= 4 && text.endsWith(before);
      const rest = repeats ? text.slice(0, text.length - before.length) : text;
      return { words: rest.match(WORDS) ?? [], repeats };
    });
    const times = new Map();
    for (const word of split.flatMap(({ words }) => words)) times.set(word, (times.get(word) ?? 0) + 1);
    const often = [...times.keys()].filter(word => times.get(word) >= 3);
    often.sort((a, b) => times.get(b) - times.get(a));
    const numbers = new Map(often.map((word, number) => [word, number]));
    const [others, codes] = [[], []];
    for (const { words, repeats } of split) {
      for (const word of words) {
        const number = numbers.get(word);
        if (number !== undefined) codes.push(...codeOf(number));
        else if (others.push(word)) codes.push(1);
      }
      codes.push(...(repeats ? [2, 0] : [0]));
    }
    const all = [...often, ...others].map(word => `${word}\0`).join('');
    return { words: Buffer.from(all, 'utf8'), numbered: often.length, codes: Uint8Array.from(codes) };
  }
}

const WORDS =
  /(?:[^A-Za-z0-9_\u0080-\uffff]*[^A-Za-z0-9_\u0080-\uffff:])?[A-Za-z0-9_\u0080-\uffff]+(?:::)?|[^A-Za-z0-9_\u0080-\uffff]+/g;

function codeOf(number) {
  if (number < 192) return [3 + number];
  const rest = number - 192;
  if (rest < 60 * 256) return [195 + (rest >> 8), rest & 255];
  const last = rest - 60 * 256;
  return [255, last & 255, (last >> 8) & 255, last >> 16];
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

/** How many bytes each of `numbers` has, then their lowest bytes, then their second ones, and so on. */
export function planes(numbers) {
  const split = Array.from(numbers, number => {
    const bytes = [];
    for (let rest = number; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256);
    return bytes;
  });
  const out = split.map(bytes => bytes.length);
  for (let place = 0; place < 8; place++) {
    for (const bytes of split) if (bytes.length > place) out.push(bytes[place]);
  }
  return Uint8Array.from(out);
}

const differences = numbers => {
  let before = 0;
  return Array.from(numbers, number => {
    const step = number - before;
    before = number;
    return zigzag(step);
  });
};

const sparseDifferences = numbers => {
  let before = 0;
  return Array.from(numbers, number => {
    if (number === 0) return 0;
    const step = number - before;
    before = number;
    return zigzag(step) + 1;
  });
};

/** Zigzag LEB128 of the differences of `numbers`. */
export const delta = numbers => uleb(differences(numbers));

/** The same for numbers with zeroes among them. */
export const sparse = numbers => uleb(sparseDifferences(numbers));

/** What the encoding of that name stores of `numbers`, each once, with how many more are the same. */
export function runs(numbers, encoding) {
  const stored = { uleb: Array.from, delta: differences, sparse: sparseDifferences }[encoding].call(
    Array,
    numbers,
  );
  const out = [];
  for (let row = 0, end; row < stored.length; row = end) {
    for (end = row + 1; end < stored.length && stored[end] === stored[row];) end++;
    out.push(stored[row], end - row - 1);
  }
  return uleb(out);
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
  'size', // of output sections
  'memory_step',
  'old_size',
  'old_memory',
  'language',
  'role',
  'input_sections.symbol',
  'references',
]);

const PLANES = new Set(['pieces.size', 'references.step']);

// References and names with none among them.
const SPARSE = new Set([
  'objects.archive',
  'pieces.input_section',
  'pieces.name',
  'pieces.source',
  'pieces.instance',
  'imports.library',
  'imports.input_section',
  'roots.symbol',
]);

// Whose rows are mostly as the ones before.
const RUNS = new Set([
  'input_sections.name',
  'input_sections.symbol',
  'input_sections.object',
  'input_sections.output_section',
  'pieces.input_section',
  'pieces.output_section',
  'pieces.memory_step',
  'pieces.source',
  'pieces.role',
  'imports.library',
  'roots.reason',
]);

function encodingOf(table, column) {
  if (PLANES.has(`${table}.${column}`)) return 'planes';
  if (ULEB.has(column) || ULEB.has(`${table}.${column}`)) return 'uleb';
  return SPARSE.has(`${table}.${column}`) ? 'sparse' : 'delta';
}

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
      let encoding = encodingOf(table, column);
      let bytes = { uleb, delta, sparse, planes }[encoding](numbers);
      if (RUNS.has(`${table}.${column}`)) {
        const inRuns = runs(numbers, encoding);
        if (inRuns.length <= numbers.length / 4) [bytes, encoding] = [inRuns, `${encoding}-runs`];
      }
      const blob =
        ['references', 'roots', 'libraries', 'imports'].includes(table) ||
        ['references', 'asked_by', 'asked_for'].includes(column)
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
  const packed = names.packed();
  const elements = [
    element(
      'application/json',
      'meta',
      JSON.stringify({
        format: 4,
        weld: '0.1.0',
        ...meta,
        names: names.list.length,
        words: packed.numbered,
        columns,
      }).replaceAll('<', '\\u003c'),
    ),
  ];
  const blob = (name, bytes) =>
    elements.push(element('application/octet-stream', name, septets(gzipSync(bytes, { level: 6 }))));
  blob('words', packed.words);
  blob('names', packed.codes);
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
