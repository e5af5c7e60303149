// Kinds of bytes, which decide colours.
//
// An output section has a kind, and a piece may have a role in it that says more: padding is padding wherever it
// is. Debug information stays debug information, whatever its role: it is counted apart.

export const KIND = { code: 0, readOnly: 1, data: 2, zero: 3, debug: 4, linker: 5, padding: 6, other: 7 };

/** Words for people, by kind. */
export const KIND_NAMES = [
  'Code',
  'Read-only data',
  'Data',
  'Zeroed data',
  'Debug information',
  'Made by the linker',
  'Padding',
  'Other',
];

/** The kind that weld calls `name`. */
export function kindOf(name = '') {
  const word = String(name).toLowerCase();
  if (word.includes('debug')) return KIND.debug;
  if (word.includes('code') || word.includes('text')) return KIND.code;
  if (word.includes('read-only') || word.includes('rodata')) return KIND.readOnly;
  if (word.includes('zero') || word.includes('bss')) return KIND.zero;
  if (word.includes('padding')) return KIND.padding;
  if (word.includes('linker') || word.includes('table') || word.includes('header')) return KIND.linker;
  if (word.includes('data')) return KIND.data;
  return KIND.other;
}

/** The kind that a role stands for, -1 if the section's kind counts. */
export function roleOf(name) {
  const word = String(name).toLowerCase();
  if (word.includes('padding')) return KIND.padding;
  if (word.includes('linker') || word.includes('header')) return KIND.linker;
  return -1;
}
