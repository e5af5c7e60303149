// Made-up programs for tests: they look like real ones, and every sum is known.
//
// `program({ pieces, seed, … })` returns `{ meta, names, tables, html() }`. The same arguments give the same
// bytes. `old: true` makes a comparison, `hostile: true` names that would like to be markup, `compact: true` large
// files that pack as real ones do.

import { NameTable, page } from './writer.js';

const KINDS = ['headers', 'code', 'read-only data', 'data', 'zeroed data', 'debug information'];
const ROLES = ['contents', 'padding', 'header', 'linker table', 'merged strings'];
const LANGUAGES = ['unknown', 'C', 'C++', 'Rust'];

const SECTIONS = [
  // Name, kind, share of pieces, mean size.
  ['.rodata', 2, 12, 120],
  ['.eh_frame', 2, 6, 60],
  ['.text', 1, 56, 230],
  ['.data.rel.ro', 3, 5, 90],
  ['.data', 3, 4, 160],
  ['.bss', 4, 3, 900],
  ['.debug_info', 5, 7, 1500],
  ['.debug_line', 5, 4, 700],
  ['.debug_str', 5, 3, 400],
];

export const HOSTILE = [
  '</script><img src=x onerror="window.pwned=1">',
  '<b onmouseover=alert(1)>bold</b>',
  '"><svg/onload=window.pwned=2>',
  '<!-- <script>window.pwned=3</script> -->',
  '\u202egnp.exe\u202c reversed',
  'line\nbreak\ttab\u0007bell',
  `very_long_${'x'.repeat(20000)}`,
  'javascript:window.pwned=4',
  '%2F/../..//%00/%',
  "'; DROP TABLE pieces; --",
  '\u{1f4a9}\u0301 combining',
  '<T as <U as V>::W>::x::<<<((([[[',
  '$& $1 $$ ${x} {{x}}',
];

/** A generator of numbers in [0, 1), the same for the same seed. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const WORDS = (
  'alias analysis ast atom attr basic block buffer builder cache call chunk codec codegen config context cursor decl diag ' +
  'edge emit entry error expr file format frame function graph hash header heap index input instr io iter job key layout lexer link ' +
  'live loop map match merge meta module name node object offset opt output page parse pass path phi plan pool query queue range ' +
  'reader record ref region reloc render resolve root scan scope section segment select shape slot source span stack state store ' +
  'stream string symbol sync table target task text token trace tree type unit use value vector view visit walk worker write'
).split(' ');
const PROJECTS = [
  {
    name: 'engine',
    archive: '',
    language: 2,
    spaces: ['engine', 'engine::render', 'engine::scene', 'engine::net', 'engine::detail'],
    weight: 30,
  },
  {
    name: 'llvm-lite',
    archive: 'lib/libllvm-lite.a',
    language: 2,
    spaces: ['llvm', 'llvm::cl', 'llvm::ir', '(anonymous namespace)', 'llvm::detail'],
    weight: 26,
  },
  { name: 'codec', archive: 'lib/libcodec.a', language: 1, spaces: [''], weight: 12 },
  {
    name: 'rustcore',
    archive: 'target/release/librustcore.a',
    language: 3,
    spaces: [
      'core::fmt',
      'alloc::vec',
      'rustcore::parse',
      'hashbrown::raw',
      'regex_automata::dfa',
      'std::io',
    ],
    weight: 20,
  },
  { name: 'zstd', archive: 'third_party/libzstd.a', language: 1, spaces: [''], weight: 8 },
  {
    name: 'stdlib',
    archive: '/usr/lib/gcc/x86_64-linux-gnu/12/libstdc++.a',
    language: 2,
    spaces: ['std', 'std::__cxx11', '__gnu_cxx', 'std::filesystem'],
    weight: 4,
  },
];

class Maker {
  constructor(options) {
    this.options = {
      pieces: 4000,
      seed: 1,
      old: false,
      hostile: false,
      graph: true,
      libraries: true,
      debug: true,
      compact: false,
      output: 'prog',
      ...options,
    };
    this.random = random(this.options.seed);
    this.names = new NameTable();
    this.tables = {};
  }

  below(n) {
    return Math.floor(this.random() * n);
  }

  word() {
    // Few words are used often.
    return WORDS[Math.floor(this.random() ** 1.7 * WORDS.length)];
  }

  // Sizes as in programs: most small, a few large.
  size(mean) {
    return (
      1 + Math.floor(mean * 0.35 * Math.exp(2.1 * this.random() ** 1.5 + (this.random() < 0.004 ? 3.5 : 0)))
    );
  }

  pick(items, weight) {
    let at = this.random() * items.reduce((sum, item) => sum + weight(item), 0);
    for (const item of items) if ((at -= weight(item)) < 0) return item;
    return items.at(-1);
  }

  make() {
    this.objects();
    this.pieces();
    if (this.options.graph) this.graph();
    if (this.options.libraries) this.libraries();
    return this.result();
  }

  objects() {
    const { names } = this;
    const archives = [...new Set(PROJECTS.map(project => project.archive).filter(Boolean))];
    this.tables.archives = { name: archives.map(name => names.id(name)) };
    this.list = [];
    const wanted = Math.max(12, Math.round(this.options.pieces / 90));
    for (let i = 0; i < wanted; i++) {
      const project = this.pick(PROJECTS, ({ weight }) => weight);
      const name = `${this.word()}_${this.word()}`;
      const ending = ['', 'c', 'cpp', 'rs'][project.language];
      const folder = ['src', 'src/core', `src/${this.word()}`, `lib/${this.word()}/detail`][this.below(4)];
      this.list.push({
        project,
        name,
        source: `/home/dev/${project.name}/${folder}/${name}.${ending}`,
        archive: archives.indexOf(project.archive) + 1,
      });
    }
    if (this.options.hostile) this.list.forEach((object, i) => (object.name = HOSTILE[i % HOSTILE.length]));
    this.tables.objects = {
      name: this.list.map(({ name, archive, project }) =>
        names.id(archive || this.options.hostile ? `${name}.o` : `build/${project.name}/${name}.o`),
      ),
      archive: this.list.map(({ archive }) => archive),
      source: this.list.map(({ source }) => names.id(source)),
      language: this.list.map(({ project }) => project.language),
    };
  }

  symbol(object, isCode) {
    const { options } = this;
    if (options.compact && this.random() < 0.6) return this.again(object, isCode);
    const symbol = this.newSymbol(object, isCode);
    this.last = this.last ?? new Map();
    this.last.set(object.project, symbol);
    return symbol;
  }

  // A sibling of the symbol before: most names of large files differ little from their neighbours.
  again(object, isCode) {
    const last = this.last?.get(object.project) ?? this.newSymbol(object, isCode);
    return { name: last.name.replace(/(\(|$)/, `_${this.below(40)}$1`), of: last.of };
  }

  newSymbol(object, isCode) {
    const { options } = this;
    if (options.hostile && this.random() < 0.5) return { name: HOSTILE[this.below(HOSTILE.length)], of: '' };
    const { project } = object;
    const space = project.spaces[this.below(project.spaces.length)];
    const method = `${this.word()}_${this.word()}`;
    const type =
      this.word().replace(/^./, c => c.toUpperCase()) + this.word().replace(/^./, c => c.toUpperCase());
    if (project.language === 1) return { name: `${project.name}_${method}${this.below(30) || ''}`, of: '' };
    if (!isCode)
      return {
        name:
          project.language === 2
            ? `${this.random() < 0.4 ? 'vtable for ' : ''}${space}::${type}`
            : `${space}::${method.toUpperCase()}`,
        of: '',
      };
    const generic = this.random() < 0.3;
    if (project.language === 3) {
      if (this.random() < 0.2) return { name: `<${space}::${type}<T> as core::fmt::Debug>::fmt`, of: '' };
      return generic
        ? {
            name: `${space}::${type}<${this.word()}::${type}>::${method}`,
            of: `${space}::${type}<_>::${method}`,
          }
        : { name: `${space}::${method}`, of: '' };
    }
    const inside = `${this.word()}::${type}`;
    return generic
      ? {
          name: `void ${space}::${type}<${inside}>::${method}(${inside} const&)`,
          of: `${space}::${type}<…>::${method}`,
        }
      : { name: `${space}::${type}::${method}(unsigned long, ${inside}*)`, of: '' };
  }

  pieces() {
    const { names, options } = this;
    const sections = SECTIONS.filter(([, kind]) => options.debug || kind !== 5);
    const outs = sections.map(([name, kind], i) => ({ name, kind, i, size: 0 }));
    const inputs = { name: [], object: [], output_section: [] };
    const rows = {
      input_section: [],
      output_section: [],
      name: [],
      size: [],
      memory: [],
      source: [],
      instance: [],
      role: [],
    };
    const put = row => {
      for (const [column, list] of Object.entries(rows)) list.push(row[column] ?? 0);
      if (row.output_section) outs[row.output_section - 1].size += row.memory;
    };
    put({ size: 64 + 56 * 12, memory: 64 + 56 * 12, role: 2 });
    const weights = sections.map(section => section[2]);
    while (rows.size.length < options.pieces - 8) {
      const [sectionName, kind, , mean] = this.pick(sections, section => section[2]);
      const out = sections.findIndex(([name]) => name === sectionName);
      const at = this.below(this.list.length);
      const object = this.list[Math.floor(at * (0.3 + 0.7 * this.random()))];
      const { name, of } = kind === 5 ? { name: '', of: '' } : this.symbol(object, kind === 1);
      const size = this.size(mean);
      const inputSection = inputs.name.push(
        names.id(
          kind === 5 || options.compact
            ? sectionName
            : `${sectionName}.${kind === 1 ? 'f' : 'd'}${rows.size.length}`,
        ),
      );
      inputs.object.push(this.list.indexOf(object) + 1);
      inputs.output_section.push(out);
      put({
        input_section: inputSection,
        output_section: out + 1,
        name: names.id(name),
        size: kind === 4 ? 0 : size,
        memory: kind === 5 ? 0 : size,
        source:
          this.random() < 0.15 && kind === 1 ? names.id(`/usr/include/c++/12/bits/${this.word()}.h`) : 0,
        instance: names.id(of),
        role: kind === 5 && sectionName === '.debug_str' ? 4 : 0,
      });
      if (this.random() < 0.06 && kind !== 5)
        put({ output_section: out + 1, size: kind === 4 ? 0 : 1 + this.below(15), memory: 8, role: 1 });
    }
    for (const [table, size] of [
      ['.symtab', 41],
      ['.strtab', 37],
      ['.dynsym', 3],
      ['.rela.dyn', 6],
      ['.got', 1],
      ['.shstrtab', 0.2],
    ]) {
      outs.push({ name: table, kind: 0, i: outs.length, size: 0 });
      const bytes = Math.round((size * options.pieces) / 3) + 16;
      put({
        output_section: outs.length,
        size: bytes,
        memory: table === '.got' || table.startsWith('.dyn') || table.startsWith('.rela') ? bytes : 0,
        role: 3,
      });
    }
    put({ size: 64 * outs.length, role: 2 });
    let address = 0x400000;
    this.tables.output_sections = {
      name: outs.map(({ name }) => names.id(name)),
      kind: outs.map(({ kind }) => kind),
      address: outs.map(({ size }) => (address += size)),
      file_offset: outs.map((_, i) => i * 4096),
      size: outs.map(({ size }) => size),
    };
    this.tables.input_sections = inputs;
    this.tables.pieces = rows;
    if (options.old) this.older(rows);
    this.weights = weights;
  }

  // How large what is one now was before, for a random `what`: most the same, some not there.
  earlier(what) {
    if (what >= 0.82 && what < 0.9) return 0.6 + 0.4 * this.random();
    if (what >= 0.9 && what < 0.95) return 1 + this.random();
    return what >= 0.95 && what < 0.98 ? 0 : 1;
  }

  older(rows) {
    rows.old_size = [];
    rows.old_memory = [];
    for (let i = 0; i < rows.size.length; i++) {
      const what = this.random();
      const factor = rows.role[i] >= 2 ? 0.97 : this.earlier(what);
      rows.old_size.push(Math.round(rows.size[i] * factor));
      rows.old_memory.push(Math.round(rows.memory[i] * factor));
      if (what >= 0.98 && rows.role[i] < 2) rows.size[i] = rows.memory[i] = 0;
    }
  }

  // References go from earlier to later sections, mostly near ones; section 0 is the entry.
  graph() {
    const nodes = this.tables.input_sections.name.length;
    const parent = new Int32Array(nodes).fill(-1);
    const lists = Array.from({ length: nodes }, () => []);
    for (let node = 1; node < nodes; node++) {
      parent[node] = this.options.compact
        ? Math.max(0, node - 1 - this.below(20))
        : Math.floor(node * this.random() ** 0.6);
      lists[parent[node]].push(node);
    }
    // In large files most references are to neighbours, which is why they pack well.
    const near = this.options.compact ? 30 : nodes;
    for (let i = 0; i < nodes * 2; i++) {
      const from = this.below(nodes);
      lists[from].push((from + this.below(near)) % nodes);
    }
    const start = [0];
    for (const list of lists) start.push(start.at(-1) + list.length);
    this.tables.graph = { start, to: lists.flat() };
    this.tables.roots = {
      input_section: [0, Math.min(5, nodes - 1)],
      reason: [this.names.id('entry'), this.names.id('exported')],
      symbol: [this.names.id('_start'), this.names.id('api_version')],
    };
    const { objects } = this.tables;
    objects.asked_by = objects.archive.map((archive, i) => (archive && i > 0 ? this.below(i) + 1 : 0));
    objects.asked_for = objects.archive.map(archive =>
      archive ? this.names.id(`${this.word()}_${this.word()}`) : 0,
    );
  }

  // One library that nobody needs, one without a name of which something is needed, and two that many need.
  libraries() {
    const { names, options } = this;
    const nodes = this.tables.input_sections.name.length;
    const listed = ['libstdc++.so.6', 'libidle.so.1', options.hostile ? HOSTILE[0] : 'libc.so.6'];
    this.tables.libraries = { name: listed.map(name => names.id(name)) };
    const rows = [[0, 'stray', 0]];
    for (let i = 0; i < Math.min(400, nodes); i++) {
      const library = i % 3 ? 3 : 1;
      rows.push([library, library === 1 ? `std::f${i % 7}()` : `f${i % 11}`, this.below(nodes) + 1]);
    }
    rows.sort((a, b) => a[0] - b[0]);
    this.tables.imports = {
      library: rows.map(row => row[0]),
      symbol: rows.map(row => names.id(row[1])),
      input_section: rows.map(row => row[2]),
    };
  }

  result() {
    const { tables, names, options } = this;
    const sum = numbers => numbers.reduce((total, n) => total + n, 0);
    const meta = {
      output: options.hostile ? '</script><h1>prog' : options.output,
      file_size: sum(tables.pieces.size),
      kind: 'elf',
      machine: 'x86-64',
      kinds: KINDS,
      roles: ROLES,
      languages: LANGUAGES,
      savings: { comdat: 1234567, icf: 81234, merged_strings: 312345 },
    };
    if (options.old) meta.old = { output: `${options.output}-0.9`, file_size: sum(tables.pieces.old_size) };
    return { meta, names, tables, html: () => page(meta, names, tables) };
  }
}

/** A made-up program. */
export function program(options) {
  return new Maker(options).make();
}
