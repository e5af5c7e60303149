// Groupings by what a piece belongs to: output section, archive, object, input section, and so on.
//
// Each level gives a number a piece. An object in no archive stands where the archives stand, so that programs
// of loose objects do not have everything one level deeper.

/** A level by a column with one number a piece. */
function byColumn(column, keys, label) {
  return { keyOf: piece => column[piece], keys, label };
}

const LEVELS = {
  outputSection: model =>
    byColumn(model.outputSection, model.counts.output_sections + 1, id => model.outputSectionName(id)),
  archive: model => {
    const { archive, object } = model;
    const archives = model.counts.archives + 1;
    return {
      keyOf: piece => archive[piece] || (object[piece] ? archives + object[piece] : 0),
      keys: archives + model.counts.objects + 1,
      label: id => {
        if (id === 0) return model.objectName(0);
        return id < archives ? model.archiveName(id) : model.objectName(id - archives);
      },
    };
  },
  object: model => ({
    ...byColumn(model.object, model.counts.objects + 1, id => model.objectName(id)),
    // Where the level above has shown the object already.
    skips: id => id === 0 || model.objectArchive[id - 1] === 0,
  }),
  section: model => ({
    ...byColumn(model.section, model.counts.input_sections + 1),
    // With one symbol, as compilers make them, the symbol says more than ".text.…".
    label: (id, piece, count) => (count === 1 ? model.pieceName(piece) : model.sectionName(id)),
    // The only one of an object says nothing that the levels above have not said.
    skips: () => true,
  }),
  language: model => {
    const languages = model.tables.column('objects.language');
    const { object } = model;
    const unknown = model.meta.languages?.length ?? 0;
    return {
      keyOf: piece => (object[piece] ? Math.min(languages[object[piece] - 1], unknown) : unknown + 1),
      keys: unknown + 2,
      label: index => (index > unknown ? 'made by the linker' : model.languageName(index)),
    };
  },
};

/** A grouping by the levels of these names, pieces below the last. */
export function byLevels(names) {
  return {
    start(model) {
      const levels = names.map(name => LEVELS[name](model));
      return { root: 0, level: (state, order, lo, hi) => levelAt(levels, state, order, lo, hi) };
    },
  };
}

/** Level `depth` of `levels` for the pieces of a range; null below the last. */
export function levelAt(levels, depth, order, lo, hi) {
  const level = levels[depth];
  if (!level) return null;
  const keyOf = new Uint32Array(hi - lo);
  for (let i = lo; i < hi; i++) keyOf[i - lo] = level.keyOf(order[i]);
  return { keyOf, keys: level.keys, label: level.label, skips: level.skips, state: () => depth + 1 };
}
