// Splitting a range of pieces by keys.
//
// The tree behind the picture is made of ranges of one array `order` that holds the numbers of all pieces: a
// group is a range, its children are ranges in it. Splitting a group sorts its range by key, children with the
// most bytes first, so that "all children from the k-th on" is a range, too. Nothing is split before it is
// looked at, and nothing is an object: a million pieces are three arrays.

/**
 * Sorts `order[lo..hi)` so that pieces with the same key are neighbours and keys with larger sums of `area`
 * come first. `keyOf[i]` is the key of `order[lo + i]`, below `keys`. Returns `{ key, lo, area }`: arrays with
 * a group each, `lo` with one more entry, the end.
 */
export function partition(order, lo, hi, keyOf, keys, area) {
  const { slots, used } = numberKeys(keyOf, keys);
  const sums = new Float64Array(used.length);
  const counts = new Uint32Array(used.length);
  for (let i = 0; i < slots.length; i++) {
    sums[slots[i]] += area[order[lo + i]];
    counts[slots[i]]++;
  }
  const ranked = largestFirst(sums);
  const groups = used.length;
  const key = new Uint32Array(groups);
  const rankedArea = new Float64Array(groups);
  const starts = new Uint32Array(groups + 1);
  const next = new Uint32Array(groups);
  let at = lo;
  for (let rank = 0; rank < groups; rank++) {
    const slot = ranked[rank];
    key[rank] = used[slot];
    rankedArea[rank] = sums[slot];
    starts[rank] = next[slot] = at;
    at += counts[slot];
  }
  starts[groups] = hi;
  const before = order.slice(lo, hi);
  for (let i = 0; i < before.length; i++) order[next[slots[i]]++] = before[i];
  return { key, lo: starts, area: rankedArea };
}

// Dense numbers for the keys that occur: `slots[i]` for keyOf[i], and `used[slot]`, the key.
function numberKeys(keyOf, keys) {
  const slots = new Uint32Array(keyOf.length);
  const used = [];
  if (keys <= 4 * keyOf.length + 1024) {
    const slotOf = new Uint32Array(keys);
    for (let i = 0; i < keyOf.length; i++) {
      const key = keyOf[i];
      if (!slotOf[key]) slotOf[key] = used.push(key);
      slots[i] = slotOf[key] - 1;
    }
  } else {
    const slotOf = new Map();
    for (let i = 0; i < keyOf.length; i++) {
      let slot = slotOf.get(keyOf[i]);
      if (slot === undefined) slotOf.set(keyOf[i], (slot = used.push(keyOf[i]) - 1));
      slots[i] = slot;
    }
  }
  return { slots, used };
}

/** The numbers from `first` on, `count` of them. */
export function numbersFrom(first, count) {
  const out = new Uint32Array(count);
  for (let i = 0; i < count; i++) out[i] = first + i;
  return out;
}

/** Places of `values` by falling value; equal ones by place. */
export function largestFirst(values) {
  let max = 0;
  for (const value of values) if (value > max) max = value;
  const n = values.length;
  // The engine sorts numbers without a comparison function ten times as fast: value and place in one double.
  if ((max + 1) * n < Number.MAX_SAFE_INTEGER && Number.isInteger(max)) {
    const packed = new Float64Array(n);
    for (let i = 0; i < n; i++) packed[i] = (max - values[i]) * n + i;
    packed.sort();
    const out = new Uint32Array(n);
    for (let i = 0; i < n; i++) out[i] = packed[i] % n;
    return out;
  }
  return numbersFrom(0, n).sort((a, b) => values[b] - values[a] || a - b);
}

/** Sorts `order[lo..hi)` by falling area. */
export function sortPieces(order, lo, hi, area) {
  const before = order.slice(lo, hi);
  const values = new Float64Array(before.length);
  for (let i = 0; i < values.length; i++) values[i] = area[before[i]];
  const ranked = largestFirst(values);
  for (let i = 0; i < ranked.length; i++) order[lo + i] = before[ranked[i]];
}
