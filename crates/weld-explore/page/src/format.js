// Numbers and names for people.

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Bytes in three digits or so, in powers of 1000: "12.3 MB". */
export function bytes(n) {
  let unit = 0;
  let value = Math.abs(n);
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${n < 0 ? '−' : ''}${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** With its sign: "+12.3 kB", "−1 B", "0 B". */
export function change(n) {
  return n > 0 ? `+${bytes(n)}` : bytes(n);
}

const GROUPS = new Intl.NumberFormat('en');

/** All digits: "12,345". */
export function exact(n) {
  return GROUPS.format(n);
}

/** "1 piece", "2 pieces". */
export function plural(n, word) {
  return `${exact(n)} ${word}${n === 1 ? '' : 's'}`;
}

/** Part of a whole: "12.3 %". */
export function percent(part, whole) {
  if (!whole) return '';
  const value = (100 * part) / whole;
  const size = Math.abs(value);
  if (size !== 0 && size < 0.01) return '<0.01 %';
  return `${value < 0 ? '−' : ''}${size.toFixed(size >= 10 ? 1 : 2)} %`;
}

// Characters that would not show, or would turn others round: controls, and marks of direction.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * A name from a file as it may be shown: what is invisible is spelled out, so that no name looks like another;
 * longer than `most` characters it is cut.
 */
export function shown(name, most = 2000) {
  const cut = name.length > most ? `${name.slice(0, most)}…` : name;
  return cut.replace(UNSEEN, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The last part of a path, of any system. */
export function baseName(path) {
  return /[^/\\]*$/.exec(path)[0] || path;
}
