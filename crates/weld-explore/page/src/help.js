// What can be done, in a dialogue.

import { h } from './dom.js';

const KEYS = [
  ['← ↑ → ↓', 'select the next rectangle'],
  ['Enter', 'go into the selected group'],
  ['Escape, Backspace', 'come out; close what is open'],
  ['/', 'search'],
  ['1 – 6', 'another grouping'],
  ['g', 'groups or all symbols in the table'],
  ['l', 'shared libraries, and who needs them'],
  ['t', 'table and details, or the picture alone'],
  ['d', 'dark or light'],
  ['?', 'this help'],
];

const WORDS = [
  'A rectangle is as large as its part of the file. Click the name of a group, double-click, or turn the wheel to go in; click a rectangle to see what it is and why it is there.',
  'Every byte of the file is in the picture exactly once. Debug information is apart at first; its size is told beside the total.',
  'A search finds symbols, sections, objects, archives and sources; “object:main”, “symbol:”, “section:”, “archive:” or “source:” looks at one of them. Capital letters make capitals count. “.*” makes it a regular expression.',
  'The address of the page holds the view: a link opens it again.',
];

const LICENCES =
  'Layout by d3-hierarchy, © 2010–2026 Mike Bostock, ISC licence; its text is in the source of this page.';

/** Fills the dialogue. */
export function fillHelp(dialog, version) {
  dialog.replaceChildren(
    h('h2', {}, 'What is in the file'),
    WORDS.map(text => h('p', {}, text)).reduce(
      (all, p) => (all.append(p), all),
      document.createDocumentFragment(),
    ),
    h(
      'table',
      {},
      KEYS.map(([key, what]) => h('tr', {}, h('th', { scope: 'row' }, key), h('td', {}, what))),
    ),
    h('p', { class: 'muted' }, `Written by weld ${version}. ${LICENCES}`),
    h('form', { method: 'dialog' }, h('button', { class: 'primary' }, 'Close')),
  );
}
