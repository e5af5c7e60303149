// Why a section is there: the shortest way from a root, who refers to it, what it alone keeps, and who asked for
// the archive member that it is from.

import { h } from '../dom.js';
import { bytes, exact, shown } from '../format.js';
import { DamagedPage } from '../data/blobs.js';

const MOST_LISTED = 60;

export class Reasons {
  /** `on.piece(number)` selects a piece. */
  constructor({ model, why, libraries }, on) {
    this.model = model;
    this.why = why;
    this.libraries = libraries;
    this.on = on;
    this.turn = 0;
  }

  /** An element that fills itself with what is known of `section`. */
  ofSection(section) {
    const { why } = this;
    const muted = text => h('p', { class: 'muted' }, text);
    if (!why.known)
      return muted('Why it is there is not known: this page was made without the references of the link.');
    const title = h('h3', {}, 'Why is it there?');
    const damaged = why => muted(`The references in this page are damaged: ${why}.`);
    if (why.damage) return h('div', {}, title, damaged(why.damage));
    if (!why.isComplete) return h('div', {}, title, muted('Reading the references…'));
    const box = h('div', {}, title, muted('Looking for the shortest way from a root…'));
    this.#fill(box, section, ++this.turn).catch(error => {
      if (!(error instanceof DamagedPage)) throw error;
      box.replaceChildren(title, damaged(error.message));
    });
    return box;
  }

  async #fill(box, section, turn) {
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
          path.map(at => h('li', at === section ? { class: 'here' } : {}, this.link(at))),
        ),
      );
    }
    const kept = h('div', {}, h('p', { class: 'muted' }, 'Looking for what it alone keeps…'));
    parts.push(
      kept,
      this.#sections('Referred to by', why.referrers(section)),
      this.#sections('Refers to', why.references(section)),
      this.#wanted(section),
    );
    box.replaceChildren(...parts.filter(Boolean));
    const tree = await why.kept();
    if (turn === this.turn) kept.replaceChildren(...this.#kept(section, tree).filter(Boolean));
  }

  #kept(section, tree) {
    const holder = tree.heldBy(section);
    const holds = tree.holds(section);
    return [
      h(
        'p',
        {},
        'Without it ',
        h('strong', {}, bytes(tree.bytes(section))),
        ` would go${holds.length > 0 ? ', itself and what it alone keeps' : ': itself only'}.`,
      ),
      h(
        'p',
        {},
        ...(holder >= 0
          ? ['It would go without ', this.link(holder), '.']
          : ['No other section alone keeps it.']),
      ),
      this.#sections('Kept by it alone', holds, at => bytes(tree.bytes(at))),
    ];
  }

  // What the section wants of shared libraries.
  #wanted(section) {
    const wanted = this.libraries.of(section);
    if (wanted.length === 0) return null;
    const more = wanted.length - MOST_LISTED;
    return h(
      'details',
      { open: wanted.length <= 12, class: 'wanted' },
      h('summary', {}, `Needs of shared libraries (${exact(wanted.length)})`),
      h(
        'ul',
        {},
        wanted
          .slice(0, MOST_LISTED)
          .map(({ library, symbol }) =>
            h(
              'li',
              {},
              h('code', {}, h('bdi', {}, shown(symbol, 300))),
              h('span', { class: 'muted' }, ' ', h('bdi', {}, shown(library, 300))),
            ),
          ),
        more > 0 ? h('li', { class: 'muted' }, `and ${exact(more)} more`) : null,
      ),
    );
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
          h('li', {}, this.link(at), note ? h('span', { class: 'muted' }, ` ${note(at)}`) : null),
        ),
        more > 0 ? h('li', { class: 'muted' }, `and ${exact(more)} more`) : null,
      ),
    );
  }

  /** A section as a button that selects its largest piece. */
  link(section) {
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

  /** Who asked for the archive member that all pieces of `node` are from; null if they are not from one. */
  ofMember(node) {
    const { model, why } = this;
    if (!why.hasArchives || !why.isComplete) return null;
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
