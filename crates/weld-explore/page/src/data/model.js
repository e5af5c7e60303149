// What a page knows of the linked file: its pieces, and what each of them belongs to.
//
// Every byte of the file is in exactly one piece. A piece points to an input section (or to none: headers,
// padding, tables of the linker), that to an object, that to an archive. Columns are looked up here once, checked,
// and handed out as typed arrays with one number a piece.

import { Tables } from './tables.js';
import { unzigzag } from './leb128.js';
import { DamagedPage } from './blobs.js';
import { kindOf, roleOf, KIND } from './kinds.js';

export const FORMAT = 4;

export class Model {
  constructor(meta, names, blobs) {
    if (meta.format !== FORMAT) {
      throw new DamagedPage(`it is of format ${meta.format}, and this page reads ${FORMAT}`);
    }
    this.meta = meta;
    this.names = names;
    this.tables = new Tables(meta, blobs);
    this.pieces = this.tables.rows('pieces');
    this.counts = {};
    for (const table of ['output_sections', 'archives', 'objects', 'input_sections']) {
      this.counts[table] = this.tables.rows(table);
    }
    this.compares = Boolean(meta.old);
    this.cache = new Map();
  }

  // A derived array that is made once.
  #once(name, make) {
    if (!this.cache.has(name)) this.cache.set(name, make());
    return this.cache.get(name);
  }

  /** The name in column `column` of `row`. */
  nameOf(column, row) {
    return this.names.get(this.tables.column(column)[row]);
  }

  get size() {
    return this.tables.column('pieces.size');
  }

  get memory() {
    return this.#once('memory', () => {
      const steps = this.tables.column('pieces.memory_step');
      const { size } = this;
      const out = new Float64Array(this.pieces);
      for (let piece = 0; piece < out.length; piece++) out[piece] = size[piece] + unzigzag(steps[piece]);
      return out;
    });
  }

  get oldSize() {
    return this.tables.column('pieces.old_size');
  }

  get oldMemory() {
    return this.tables.column('pieces.old_memory');
  }

  /** Input section of each piece, + 1. */
  get section() {
    return this.#once('section', () =>
      this.tables.references('pieces.input_section', this.counts.input_sections + 1),
    );
  }

  /** Output section of each piece, + 1. */
  get outputSection() {
    return this.#once('outputSection', () =>
      this.tables.references('pieces.output_section', this.counts.output_sections + 1),
    );
  }

  /** Object of each input section, + 1. */
  get sectionObject() {
    return this.#once('sectionObject', () =>
      this.tables.references('input_sections.object', this.counts.objects + 1),
    );
  }

  /** Archive of each object, + 1. */
  get objectArchive() {
    return this.#once('objectArchive', () =>
      this.tables.references('objects.archive', this.counts.archives + 1),
    );
  }

  /** Object of each piece, + 1; 0 for what the linker made. */
  get object() {
    return this.#once('object', () => through(this.section, this.sectionObject));
  }

  /** Archive of each piece, + 1. */
  get archive() {
    return this.#once('archive', () => through(this.object, this.objectArchive));
  }

  /** Name of the source of each piece: its own, or that of its object; 0 if it is not known. */
  get source() {
    return this.#once('source', () => {
      const own = this.tables.column('pieces.source');
      const ofObject = this.tables.column('objects.source');
      const { object } = this;
      const out = new Uint32Array(this.pieces);
      for (let piece = 0; piece < out.length; piece++) {
        const id = own[piece] || (object[piece] && ofObject[object[piece] - 1]);
        out[piece] = id < this.names.count ? id : 0;
      }
      return out;
    });
  }

  /** Kind of each piece: see kinds.js. */
  get kind() {
    return this.#once('kind', () => {
      const ofSection = new Uint8Array(this.counts.output_sections + 1).fill(KIND.linker);
      const kinds = this.tables.column('output_sections.kind');
      for (let i = 0; i < kinds.length; i++) ofSection[i + 1] = kindOf(this.meta.kinds?.[kinds[i]]);
      const ofRole = (this.meta.roles ?? []).map(roleOf);
      const roles = this.tables.column('pieces.role');
      const sections = this.outputSection;
      const out = new Uint8Array(this.pieces);
      for (let piece = 0; piece < out.length; piece++) {
        const role = ofRole[roles[piece]];
        const kind = ofSection[sections[piece]];
        out[piece] = role === undefined || role < 0 || kind === KIND.debug ? kind : role;
      }
      return out;
    });
  }

  /** What the linker says a piece is ("contents", "padding", …). */
  role(piece) {
    return this.meta.roles?.[this.tables.column('pieces.role')[piece]] ?? '';
  }

  /** A piece's own name: its symbol's, or that of its section, or what it is. */
  pieceName(piece) {
    const symbol = this.nameOf('pieces.name', piece);
    if (symbol) return symbol;
    const role = this.role(piece);
    if (role === 'padding') return role;
    const section = this.section[piece];
    if (section) return this.sectionName(section);
    // A table of the linker is mostly all of its output section.
    const output = this.outputSection[piece];
    return output ? this.outputSectionName(output) : role || 'contents';
  }

  outputSectionName(id) {
    return id
      ? this.nameOf('output_sections.name', id - 1) || '(no name)'
      : 'headers and what is between sections';
  }

  archiveName(id) {
    return id ? this.nameOf('archives.name', id - 1) || '(no name)' : '(no archive)';
  }

  objectName(id) {
    return id ? this.nameOf('objects.name', id - 1) || '(no name)' : 'made by the linker';
  }

  sectionName(id) {
    if (!id) return '(no section)';
    const start = this.nameOf('input_sections.name', id - 1);
    return start + this.names.get(this.sectionSymbol[id - 1]) || '(no name)';
  }

  /** Name of the symbol that each input section is called for, which its own name ends with; 0 if there is none. */
  get sectionSymbol() {
    return this.#once('sectionSymbol', () => {
      const stored = this.tables.column('input_sections.symbol');
      const out = new Uint32Array(stored.length);
      for (let row = 0; row < out.length; row++) out[row] = stored[row] && stored[row] - 1;
      // 1 is the name of its first piece.
      const ofPieces = this.tables.column('pieces.name');
      const { section } = this;
      for (let piece = this.pieces - 1; piece >= 0; piece--) {
        const row = section[piece] - 1;
        if (row >= 0 && stored[row] === 1) out[row] = ofPieces[piece];
      }
      return out;
    });
  }

  languageName(index) {
    return this.meta.languages?.[index] || 'language unknown';
  }
}

// second[first[i] - 1], and 0 where first[i] is 0.
function through(first, second) {
  const out = new Uint32Array(first.length);
  for (let i = 0; i < out.length; i++) {
    const id = first[i];
    if (id) out[i] = second[id - 1];
  }
  return out;
}
