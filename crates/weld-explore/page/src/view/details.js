// What is known of the selected node, and why it is there.

import { h } from '../dom.js';
import { bytes, change, exact, percent, plural, shown } from '../format.js';
import { KIND_NAMES } from '../data/kinds.js';
import { kindSums } from './paint.js';
import { sourceOfPieces } from '../group/paths.js';

const MOST_LISTED = 60;

export class Details {
  /** `on` has `piece(number)` to select another, `close()`. */
  constructor(element, model, why, on) {
    this.element = element;
    this.model = model;
    this.why = why;
    this.on = on;
    this.turn = 0;
  }

  /** Shows `node`; nothing without one. */
  show(node, scene, colours) {
    this.turn++;
    const { element } = this;
    element.hidden = !node;
    if (!node) return;
    const title = h(
      'div',
      { class: 'details-title' },
      h('h2', {}, h('bdi', {}, shown(node.label, 3000))),
      h(
        'button',
        {
          type: 'button',
          class: 'icon',
          'aria-label': 'Close',
          title: 'Close (Escape)',
          onclick: () => this.on.close(),
        },
        '✕',
      ),
    );
    const parts = [title, this.#sizes(node, scene), this.#kinds(node, scene, colours), this.#facts(node)];
    const section = this.#sectionOf(node);
    if (section >= 0) parts.push(this.#reasons(section));
    else if (node.piece >= 0)
      parts.push(h('p', { class: 'muted' }, 'No input section: made by the linker, or between sections.'));
    parts.push(this.#archive(node));
    element.replaceChildren(...parts.filter(Boolean));
    element.scrollTop = 0;
  }

  #sizes(node, scene) {
    const whole = this.model.meta.file_size;
    const [size, memory] = [node.sum(this.model.size), node.sum(this.model.memory)];
    const lines = [
      [
        'In the file',
        `${bytes(size)} (${size < 1000 ? '' : `${exact(size)} bytes, `}${percent(size, whole)})`,
      ],
      ['In memory', `${bytes(memory)}`],
    ];
    if (scene.compares) {
      const before = node.sum(scene.oldSize);
      const after = node.sum(scene.size);
      lines.unshift(['Change', `${change(after - before)} (${bytes(before)} → ${bytes(after)})`]);
    }
    if (node.count > 1) lines.push(['Pieces', exact(node.count)]);
    return list(lines);
  }

  #kinds(node, scene, colours) {
    if (node.count < 2) return null;
    const sums = kindSums(node, scene);
    const whole = node.value || 1;
    const parts = sums.map((sum, kind) => {
      if (!sum) return null;
      const part = h('span', { title: `${KIND_NAMES[kind]}: ${bytes(sum)}` });
      part.style.width = `${(100 * sum) / whole}%`;
      part.style.background = colours.kinds[kind];
      return part;
    });
    return h('div', { class: 'kinds', role: 'img', 'aria-label': 'kinds of bytes' }, parts);
  }

  #facts(node) {
    const { model } = this;
    const { piece } = node;
    if (piece < 0) return null;
    const { tables, names } = model;
    const section = model.section[piece];
    const object = model.object[piece];
    const archive = model.archive[piece];
    const source = names.get(sourceOfPieces(model)[piece]);
    const instance = names.get(tables.column('pieces.instance')[piece]);
    const language =
      object && tables.has('objects.language')
        ? model.languageName(tables.column('objects.language')[object - 1])
        : '';
    const role = model.role(piece);
    return list([
      ['Kind', KIND_NAMES[model.kind[piece]] + (role && role !== 'contents' ? `, ${role}` : '')],
      ['Output section', this.#outputSection(model.outputSection[piece])],
      ['Input section', section ? model.sectionName(section) : ''],
      ['Object', object ? model.objectName(object) : 'made by the linker'],
      ['Archive', archive ? model.archiveName(archive) : ''],
      ['Source', source],
      ['Language', language],
      ['Instance of', instance],
    ]);
  }

  #outputSection(id) {
    if (!id) return 'none';
    const address = this.model.tables.addresses('output_sections.address')[id - 1];
    return `${this.model.outputSectionName(id)} at 0x${address.toString(16)}`;
  }

  // The one input section of all pieces of a node; -1 if there are more, or none.
  #sectionOf(node) {
    const { section } = this.model;
    const { order } = node.tree;
    const first = section[order[node.lo]];
    if (node.count > 4096) return -1;
    for (let i = node.lo; i < node.hi; i++) if (section[order[i]] !== first) return -1;
    return first - 1;
  }

  #reasons(section) {
    const { why } = this;
    if (!why.known)
      return h(
        'p',
        { class: 'muted' },
        'Why it is there is not known: this page was made without the references of the link.',
      );
    const box = h(
      'div',
      { class: 'why' },
      h('h3', {}, 'Why is it there?'),
      h('p', { class: 'muted' }, 'Looking for the shortest way from a root…'),
    );
    this.#fillReasons(box, section, this.turn);
    return box;
  }

  async #fillReasons(box, section, turn) {
    const { why } = this;
    const path = await why.path(section);
    if (turn !== this.turn) return;
    const parts = [h('h3', {}, 'Why is it there?')];
    if (path.length === 0) {
      parts.push(h('p', {}, 'No reference from a root leads here.'));
    } else {
      const reason = why.rootReason(path[0]) || 'root';
      parts.push(
        h(
          'ol',
          { class: 'way', 'aria-label': 'Shortest way from a root' },
          h('li', { class: 'root' }, h('bdi', {}, shown(reason, 300))),
          path.map(at => h('li', at === section ? { class: 'here' } : {}, this.#link(at))),
        ),
      );
    }
    if (why.hasDominators) parts.push(...this.#kept(section));
    parts.push(
      this.#sections('Referred to by', why.referrers(section)),
      this.#sections('Refers to', why.references(section)),
    );
    box.replaceChildren(...parts.filter(Boolean));
  }

  #kept(section) {
    const { why } = this;
    const holder = why.heldBy(section);
    const holds = why.holds(section);
    return [
      h(
        'p',
        {},
        'Without it ',
        h('strong', {}, bytes(why.keeps(section))),
        ` would go${holds.length > 0 ? ', itself and what it alone keeps' : ': itself only'}.`,
      ),
      h(
        'p',
        {},
        ...(holder >= 0
          ? ['It would go without ', this.#link(holder), '.']
          : ['No other section alone keeps it.']),
      ),
      this.#sections('Kept by it alone', holds, at => bytes(why.keeps(at))),
    ];
  }

  #sections(title, sections, note) {
    if (sections.length === 0) return null;
    const shownOnes = sections.slice(0, MOST_LISTED);
    const more = sections.length - shownOnes.length;
    return h(
      'details',
      { open: sections.length <= 12 },
      h('summary', {}, `${title} (${exact(sections.length)})`),
      h(
        'ul',
        {},
        shownOnes.map(at =>
          h('li', {}, this.#link(at), note ? h('span', { class: 'muted' }, ` ${note(at)}`) : null),
        ),
        more > 0 ? h('li', { class: 'muted' }, `and ${exact(more)} more`) : null,
      ),
    );
  }

  // A section as a button that selects its largest piece.
  #link(section) {
    const piece = this.#pieceOf(section);
    const name = piece >= 0 ? this.model.pieceName(piece) : this.model.sectionName(section + 1);
    const object = this.model.objectName(this.model.sectionObject[section]);
    if (piece < 0) return h('span', { title: object }, h('bdi', {}, shown(name, 300)));
    return h(
      'button',
      {
        type: 'button',
        class: 'link',
        title: shown(`${name}\n${object}`, 600).replaceAll('\\u000a', '\n'),
        onclick: () => this.on.piece(piece),
      },
      h('bdi', {}, shown(name, 300)),
    );
  }

  #pieceOf(section) {
    if (!this.largest) {
      const { model } = this;
      this.largest = new Int32Array(model.counts.input_sections).fill(-1);
      for (let piece = 0; piece < model.pieces; piece++) {
        const at = model.section[piece] - 1;
        if (at >= 0 && (this.largest[at] < 0 || model.memory[piece] > model.memory[this.largest[at]]))
          this.largest[at] = piece;
      }
    }
    return this.largest[section];
  }

  #archive(node) {
    const { model, why } = this;
    if (!why.hasArchives) return null;
    const { order } = node.tree;
    const object = model.object[order[node.lo]];
    if (!object || node.count > 200000) return null;
    for (let i = node.lo; i < node.hi; i++) if (model.object[order[i]] !== object) return null;
    const chain = why.askedFor(object - 1);
    if (chain.length === 0) return null;
    return h(
      'div',
      {},
      h('h3', {}, 'Who asked for this file?'),
      h(
        'ol',
        { class: 'way' },
        chain
          .slice(0, MOST_LISTED)
          .map(({ by, symbol }) =>
            h(
              'li',
              {},
              h('bdi', {}, shown(model.objectName(by + 1), 300)),
              symbol ? ' for ' : '',
              symbol ? h('code', {}, h('bdi', {}, shown(symbol, 300))) : '',
            ),
          ),
      ),
    );
  }
}

function list(lines) {
  return h(
    'dl',
    {},
    lines
      .filter(([, value]) => value)
      .map(([name, value]) => [h('dt', {}, name), h('dd', {}, h('bdi', {}, shown(String(value), 1000)))]),
  );
}

/** One line about a node, for the status that screen readers speak. */
export function spoken(node) {
  return `${shown(node.label, 200)}, ${bytes(node.value)}, ${percent(node.value, node.tree.root.value)}${node.count > 1 ? `, ${plural(node.count, 'piece')}` : ''}`;
}
