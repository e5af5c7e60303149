// The ways to group a file's pieces, in the order in which the page offers them.

import { byLevels, levelAt } from './levels.js';
import { bySource, byNamespace } from './paths.js';

const SECTIONS = ['outputSection', 'archive', 'object', 'section'];

// Is a number in a column not 0?
function hasAny(model, name) {
  const column = model.tables.column(name);
  for (let row = 0; row < column.length; row++) if (column[row] !== 0) return true;
  return false;
}

const INSTANCES = 'instances of templates and generics';

/**
 * Pieces that are instances of the same template or generic are one group; all others stand apart, by object,
 * so that the whole is still the whole file.
 */
const byInstance = {
  start(model) {
    const instance = model.tables.column('pieces.instance');
    const others = byLevels(['archive', 'object', 'section']).start(model);
    const top = [
      {
        keyOf: piece => (instance[piece] ? 0 : 1),
        keys: 2,
        label: key => (key === 0 ? INSTANCES : 'everything else'),
      },
    ];
    const each = [
      { keyOf: piece => instance[piece], keys: model.names.count, label: id => model.names.get(id) },
    ];
    return {
      root: 'top',
      level(state, order, lo, hi) {
        if (state === 'top') {
          return { ...levelAt(top, 0, order, lo, hi), state: key => (key === 0 ? 'instances' : others.root) };
        }
        if (state === 'instances') return { ...levelAt(each, 0, order, lo, hi), state: () => 'end' };
        return state === 'end' ? null : others.level(state, order, lo, hi);
      },
    };
  },
};

/**
 * `id` is in links; `known(model)` says whether a page has what a grouping is by; `begin` is the path that is shown
 * first, where that is not the whole.
 */
export const GROUPINGS = [
  {
    id: 'section',
    name: 'Section',
    hint: 'output section › archive › object › input section › symbol',
    ...byLevels(SECTIONS),
    known: () => true,
  },
  {
    id: 'object',
    name: 'Object',
    hint: 'archive › object › input section › symbol',
    ...byLevels(['archive', 'object', 'section']),
    known: () => true,
  },
  {
    id: 'source',
    name: 'Source',
    hint: 'directories and files of sources',
    ...bySource,
    known: model => hasAny(model, 'pieces.source') || hasAny(model, 'objects.source'),
  },
  {
    id: 'namespace',
    name: 'Crate / namespace',
    hint: 'crates, modules and namespaces of symbols',
    ...byNamespace,
    known: () => true,
  },
  {
    id: 'instance',
    name: 'Instances',
    hint: 'templates and generics, summed over what was made of them',
    ...byInstance,
    begin: [INSTANCES],
    known: model => hasAny(model, 'pieces.instance'),
  },
  {
    id: 'language',
    name: 'Language',
    hint: 'language › archive › object › symbol',
    ...byLevels(['language', 'archive', 'object', 'section']),
    known: model => model.tables.has('objects.language') && (model.meta.languages?.length ?? 0) > 1,
  },
];
