// Shared libraries and who needs them, in a dialogue.

import { h } from '../dom.js';
import { exact, plural, shown } from '../format.js';
import { DamagedPage } from '../data/blobs.js';

const MOST_LISTED = 400;

/** Fills the dialogue; `link(section)` is an element that leads to a section. */
export function fillLibraries(dialog, libraries, link) {
  let parts;
  try {
    parts = libraries.all().map(library => ofLibrary(library, link));
  } catch (error) {
    if (!(error instanceof DamagedPage)) throw error;
    parts = [h('p', { class: 'muted' }, `The list of libraries in this page is damaged: ${error.message}.`)];
  }
  dialog.replaceChildren(
    h('h2', {}, 'Shared libraries'),
    h('p', {}, 'What the file needs of other files when it runs, and who needs it.'),
    ...parts,
    h('form', { method: 'dialog' }, h('button', { class: 'primary' }, 'Close')),
  );
}

const textOf = text => h('bdi', {}, shown(text, 300));

function ofLibrary({ name, symbols }, link) {
  if (symbols.length === 0)
    return h('p', {}, h('strong', {}, textOf(name)), h('span', { class: 'muted' }, ' nothing refers to it'));
  // The most wanted first.
  const sorted = symbols.toSorted((a, b) => b.sections.length - a.sections.length);
  return lazy(
    [h('strong', {}, textOf(name)), h('span', { class: 'muted' }, ` ${plural(symbols.length, 'symbol')}`)],
    () => cut(sorted, symbol => h('li', {}, ofSymbol(symbol, link))),
  );
}

function ofSymbol({ name, sections }, link) {
  if (sections.length === 0) return h('code', {}, textOf(name));
  return lazy(
    [
      h('code', {}, textOf(name)),
      h('span', { class: 'muted' }, ` for ${plural(sections.length, 'section')}`),
    ],
    () => cut(sections, section => h('li', {}, link(section))),
  );
}

// Opens to what `fill` makes, when it is opened first.
function lazy(summary, fill) {
  const box = h('details', {}, h('summary', {}, summary));
  const open = () => box.append(h('ul', {}, fill()));
  box.addEventListener('toggle', open, { once: true });
  return box;
}

function cut(list, show) {
  const more = list.length - MOST_LISTED;
  return [
    list.slice(0, MOST_LISTED).map(show),
    more > 0 ? h('li', { class: 'muted' }, `and ${exact(more)} more`) : null,
  ];
}
