// Colours of the picture, for light and dark.
//
// Kinds differ in lightness as well as in hue, and what grew or shrank is orange or blue, so that people who see
// fewer colours can tell them apart.

const LIGHT = {
  kinds: ['#7ea6f4', '#6fcbb9', '#f3c46b', '#ef9f78', '#b9a2ea', '#a9b4c4', '#d8dde5', '#d9b3c9'],
  ground: '#ffffff',
  levels: ['#eef1f5', '#e3e8ef', '#d9dfe8', '#ced6e1', '#c4cdd9'],
  headerInk: '#38445a',
  outline: '#10182a',
  hover: 'rgba(16, 24, 42, 0.75)',
  same: '#c9ced6',
  grew: ['#fbdcc0', '#f6a65b', '#d9570b'],
  shrank: ['#c9dcf8', '#6ea0ee', '#1f56c4'],
};

const DARK = {
  kinds: ['#4470c4', '#2c8f80', '#b98528', '#a85c38', '#7459b5', '#5a6679', '#3a424f', '#80607a'],
  ground: '#14171d',
  levels: ['#1c2129', '#242a34', '#2b323e', '#333b49', '#3b4453'],
  headerInk: '#c3cbd8',
  outline: '#ffffff',
  hover: 'rgba(255, 255, 255, 0.8)',
  same: '#414956',
  grew: ['#5c3a1c', '#a55a1b', '#f08a35'],
  shrank: ['#22375c', '#2f5fae', '#6fa4ff'],
};

/** The colours of `theme`, "light" or "dark". */
export function coloursOf(theme) {
  return theme === 'dark' ? DARK : LIGHT;
}

/** The colour of what was `before` bytes and is `after`. */
export function changeColour(colours, before, after) {
  if (before === after) return colours.same;
  const scale = after > before ? colours.grew : colours.shrank;
  const share = Math.abs(after - before) / Math.max(before, after);
  return scale[share < 0.1 ? 0 : share < 0.6 ? 1 : 2];
}

const inks = new Map();

/** Dark or light letters, whichever can be read on `colour`: `{ ink, faint }`. */
export function inkOn(colour) {
  let letters = inks.get(colour);
  if (!letters) {
    const [red, green, blue] = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
    const isLight = 0.299 * red + 0.587 * green + 0.114 * blue > 128;
    letters = isLight
      ? { ink: '#14233b', faint: 'rgba(20, 35, 59, 0.65)' }
      : { ink: '#f5f7fb', faint: 'rgba(245, 247, 251, 0.75)' };
    inks.set(colour, letters);
  }
  return letters;
}

/** `colour` ("#rrggbb") mixed with `other`, `share` of it left. */
export function mix(colour, other, share) {
  const channel = (text, at) => parseInt(text.slice(at, at + 2), 16);
  const parts = [1, 3, 5].map(at =>
    Math.round(channel(colour, at) * share + channel(other, at) * (1 - share)),
  );
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`;
}
