// Which shared libraries the file needs, and who needs them: symbols of each, and the sections that refer to these.

/** `imports` are rows of the table of that name: a symbol of a library, and a section that refers to it. */
export class Libraries {
  constructor(model) {
    this.model = model;
    const { tables } = model;
    this.counts = { libraries: tables.rows('libraries'), imports: tables.rows('imports') };
    this.known = this.counts.libraries > 0 || this.counts.imports > 0;
  }

  #column(name, limit) {
    return this.model.tables.references(name, limit);
  }

  get #library() {
    return this.#column('imports.library', this.counts.libraries + 1);
  }

  get #section() {
    return this.#column('imports.input_section', this.model.counts.input_sections + 1);
  }

  #nameOf(library) {
    return library
      ? this.model.nameOf('libraries.name', library - 1) || '(no name)'
      : 'the file does not say which';
  }

  /**
   * All libraries in the file's order, each with its symbols: `{ name, symbols: [{ name, sections }] }`, sections
   * without those that are not known. What no library is named for comes last.
   */
  all() {
    const [library, section] = [this.#library, this.#section];
    const { tables, names } = this.model;
    const symbol = tables.column('imports.symbol');
    const lists = Array.from({ length: this.counts.libraries + 1 }, () => new Map());
    for (let row = 0; row < library.length; row++) {
      const symbols = lists[library[row]];
      if (!symbols.has(symbol[row])) symbols.set(symbol[row], []);
      if (section[row]) symbols.get(symbol[row]).push(section[row] - 1);
    }
    const made = lists.map((symbols, at) => ({
      name: this.#nameOf(at),
      symbols: [...symbols].map(([name, sections]) => ({ name: names.get(name), sections })),
    }));
    const [unnamed, ...named] = made;
    return unnamed.symbols.length > 0 ? [...named, unnamed] : named;
  }

  /** What `section` wants of libraries: `{ library, symbol }`. */
  of(section) {
    const wanted = [];
    const [library, of] = [this.#library, this.#section];
    for (let row = 0; row < of.length; row++) {
      if (of[row] !== section + 1) continue;
      wanted.push({
        library: this.#nameOf(library[row]),
        symbol: this.model.nameOf('imports.symbol', row),
      });
    }
    return wanted;
  }
}
