// What the page shows, as the part of its address behind "#", so that a link opens the same view again.

const DEFAULTS = {
  by: 'section',
  path: [],
  find: '',
  regex: false,
  size: 'file',
  debug: 'without',
  tab: 'groups',
  sort: 'size',
  down: true,
  piece: -1,
  // The selected group, if no piece is selected: its path.
  group: [],
};

/** The state that `hash` tells of; what is absent or makes no sense is as in the beginning. */
export function readHash(hash) {
  const state = { ...DEFAULTS };
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  for (const key of ['by', 'find', 'size', 'debug', 'tab', 'sort']) {
    if (query.has(key)) state[key] = query.get(key);
  }
  for (const key of ['path', 'group']) {
    if (query.has(key)) state[key] = query.get(key).split('/').map(unescapePart);
  }
  state.regex = query.get('regex') === '1';
  state.down = query.get('down') !== '0';
  if (/^\d+$/.test(query.get('piece') ?? '')) state.piece = Number(query.get('piece'));
  return state;
}

/** The part of an address that [`readHash`] reads. */
export function writeHash(state) {
  const query = new URLSearchParams();
  for (const key of ['by', 'find', 'size', 'debug', 'tab', 'sort']) {
    if (state[key] !== DEFAULTS[key]) query.set(key, state[key]);
  }
  for (const key of ['path', 'group']) {
    if (state[key].length > 0) query.set(key, state[key].map(escapePart).join('/'));
  }
  if (state.regex) query.set('regex', '1');
  if (!state.down) query.set('down', '0');
  if (state.piece >= 0) query.set('piece', String(state.piece));
  return `#${query}`;
}

// Names hold slashes, which are between parts.
function escapePart(part) {
  return part.replace(/[%/]/g, c => (c === '/' ? '%2F' : '%25'));
}

function unescapePart(part) {
  return part.replace(/%2F/g, '/').replace(/%25/g, '%');
}
