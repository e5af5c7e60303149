// Columns of numbers.
//
// A column is a run of unsigned LEB128 numbers: seven bits a byte, the lowest first, the top bit set on all but
// the last byte. "uleb" columns hold the numbers themselves; "delta" columns hold differences to the row before,
// zigzag coded (0, -1, 1, -2, …), which is short for what grows slowly; "sparse" columns are such with zeroes among them,
// which are 0, and one more for others, whose differences are to the last that is none. "planes" columns hold how many bytes
// each number has, then the lowest bytes of all that have one, then their second ones. "uleb-runs", "delta-runs" and
// "sparse-runs" columns have each of the first three's numbers once, and how many more rows have the same. A page has millions of them, so they are
// decoded into typed arrays, of 32 bits where all numbers fit and of doubles elsewhere (exact up to 2^53).
// Budget: about 6 ns a number. A column that ends early, runs on, or holds what a double cannot, is damaged.

export class DamagedColumn extends Error {}

const TWO_32 = 4294967296;
const RUNS = '-runs';
// More rows are in no column of runs, which a few bytes may make of any length.
const MOST_IN_RUNS = 2 ** 28;

/** Numbers of a column of `count` rows that fills `bytes` exactly: Uint32Array or Float64Array. */
export function decodeColumn(bytes, count, encoding) {
  const inRuns = String(encoding).endsWith(RUNS);
  if (!Number.isInteger(count) || count < 0 || count > (inRuns ? MOST_IN_RUNS : bytes.length)) {
    throw new DamagedColumn(`${count} rows cannot be in ${bytes.length} bytes`);
  }
  if (inRuns) return shrink(runs(bytes, count, encoding.slice(0, -RUNS.length)));
  if (encoding === 'uleb') return narrow(bytes, count, encoding) ?? wide(bytes, count, encoding);
  if (encoding === 'delta' || encoding === 'sparse')
    return narrow(bytes, count, encoding) ?? shrink(wide(bytes, count, encoding));
  if (encoding === 'planes') return shrink(planes(bytes, count));
  throw new DamagedColumn(`unknown encoding ${encoding}`);
}

// The numbers of a column, one after the other.
class Numbers {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  next() {
    let [value, scale, byte] = [0, 1, 0];
    do {
      if (this.at >= this.bytes.length) throw new DamagedColumn('it ends in a number');
      if (scale > 2 ** 63) throw new DamagedColumn('a number is too long');
      byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    return value;
  }

  end() {
    const left = this.bytes.length - this.at;
    if (left > 0) throw new DamagedColumn(`${left} bytes are left over`);
  }
}

function runs(bytes, count, encoding) {
  if (!['uleb', 'delta', 'sparse'].includes(encoding)) throw new DamagedColumn(`unknown runs of ${encoding}`);
  const sparse = encoding === 'sparse' ? 1 : 0;
  const out = new Float64Array(count);
  const numbers = new Numbers(bytes);
  let [row, before] = [0, 0];
  while (row < count) {
    const stored = numbers.next();
    const end = row + numbers.next() + 1;
    if (end > count) throw new DamagedColumn('a run is longer than the column');
    if (encoding === 'uleb') out.fill(stored, row, end);
    else if (stored >= sparse) {
      const step = unzigzag(stored - sparse);
      for (let i = row; i < end; i++) out[i] = before += step;
    }
    row = end;
  }
  numbers.end();
  return out;
}

function planes(bytes, count) {
  const out = new Float64Array(count);
  let at = count;
  for (let place = 0, more = true; more; place++) {
    more = false;
    for (let row = 0; row < count; row++) {
      if (bytes[row] <= place) continue;
      more = true;
      if (at === bytes.length) throw new DamagedColumn('it ends in a number');
      out[row] += bytes[at++] * 256 ** place;
    }
    if (place > 8) throw new DamagedColumn('a number is too long');
  }
  if (at !== bytes.length) throw new DamagedColumn(`${bytes.length - at} bytes are left over`);
  return out;
}

// Rows below 2^32 from numbers, or differences, that fit 32 bits; null if there are others.
function narrow(bytes, count, encoding) {
  const delta = encoding !== 'uleb';
  const sparse = encoding === 'sparse' ? 1 : 0;
  const out = new Uint32Array(count);
  let at = 0;
  let before = 0;
  for (let row = 0; row < count; row++) {
    let byte = bytes[at++];
    let value = byte & 127;
    for (let shift = 7; byte & 128; shift += 7) {
      byte = bytes[at++];
      if (shift > 28 || (shift === 28 && (byte & 127) > 15)) return null;
      value |= (byte & 127) << shift;
    }
    if (byte === undefined) throw new DamagedColumn('it ends in a number');
    if (delta) {
      // A zero of a sparse column stays one.
      if (value < sparse) continue;
      value -= sparse;
      before += (value >>> 1) ^ -(value & 1);
      if (before < 0 || before >= TWO_32) return null;
      value = before;
    }
    out[row] = value;
  }
  if (at !== bytes.length) throw new DamagedColumn(`${bytes.length - at} bytes are left over`);
  return out;
}

function wide(bytes, count, encoding) {
  const delta = encoding !== 'uleb';
  const sparse = encoding === 'sparse' ? 1 : 0;
  const out = new Float64Array(count);
  const numbers = new Numbers(bytes);
  let before = 0;
  for (let row = 0; row < count; row++) {
    let value = numbers.next();
    if (delta) {
      if (value < sparse) continue;
      value = before + unzigzag(value - sparse);
      before = value;
    }
    out[row] = value;
  }
  numbers.end();
  return out;
}

// The same numbers in 32 bits where they fit.
function shrink(wideColumn) {
  for (const value of wideColumn) {
    if (!(value >= 0 && value < TWO_32)) {
      if (value < 0) throw new DamagedColumn('a number is below zero');
      return wideColumn;
    }
  }
  return Uint32Array.from(wideColumn);
}

/** The signed number that is zigzag coded as `number`. */
export function unzigzag(number) {
  return number % 2 ? -(number + 1) / 2 : number / 2;
}

/** As [`decodeColumn`], but exact to 64 bits, as a BigUint64Array: for addresses, of which there are few. */
export function decodeAddresses(bytes, count, encoding) {
  if (encoding !== 'uleb' && encoding !== 'delta') throw new DamagedColumn(`addresses are ${encoding}`);
  if (count > bytes.length) throw new DamagedColumn(`${count} rows cannot be in ${bytes.length} bytes`);
  const out = new BigUint64Array(count);
  let at = 0;
  let before = 0n;
  for (let row = 0; row < count; row++) {
    let value = 0n;
    let byte;
    let shift = 0n;
    do {
      if (at >= bytes.length || shift > 63n) throw new DamagedColumn('it ends in a number');
      byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte & 128);
    if (encoding === 'delta') {
      before += value & 1n ? -((value + 1n) >> 1n) : value >> 1n;
      value = before;
    }
    out[row] = BigInt.asUintN(64, value);
  }
  return out;
}
