// Which columns are shown: sizes in the file or in memory, with or without debug information, of one file or of
// two.

import { KIND, KIND_NAMES } from './data/kinds.js';

/**
 * The scene for `state`: `size` and `oldSize` (bytes of each piece, now and before), `area` (its size in the
 * picture), `shows(piece)`, `kind`, `compares`.
 */
export function makeScene(model, state) {
  const inMemory = state.size === 'memory';
  const size = inMemory ? model.memory : model.size;
  const oldSize = inMemory ? model.oldMemory : model.oldSize;
  const { kind, compares } = model;
  const withKind = { with: () => true, without: at => at !== KIND.debug, only: at => at === KIND.debug }[
    state.debug
  ];
  const showsKind = KIND_NAMES.map((_, at) => withKind(at));
  const shows = piece => showsKind[kind[piece]];
  return {
    size,
    oldSize,
    area: compares ? areas(size, oldSize, state.size) : size,
    shows,
    kind,
    compares,
    found: null,
    foundArea: null,
  };
}

// In a comparison a piece is as large as it is or was, so that what is gone can be seen, or as its change.
function areas(size, oldSize, measure) {
  const out = new Float64Array(size.length);
  for (let piece = 0; piece < out.length; piece++) {
    out[piece] =
      measure === 'change' ? Math.abs(size[piece] - oldSize[piece]) : Math.max(size[piece], oldSize[piece]);
  }
  return out;
}

/** Bytes of all pieces, of debug information, and what is kept apart, by the columns of `scene`. */
export function totals(model, scene) {
  const sums = { all: 0, debug: 0, shown: 0, oldAll: 0, oldShown: 0 };
  for (let piece = 0; piece < model.pieces; piece++) {
    const size = scene.size[piece];
    sums.all += size;
    if (scene.kind[piece] === KIND.debug) sums.debug += size;
    const isShown = scene.shows(piece);
    if (isShown) sums.shown += size;
    if (!scene.compares) continue;
    sums.oldAll += scene.oldSize[piece];
    if (isShown) sums.oldShown += scene.oldSize[piece];
  }
  return sums;
}
