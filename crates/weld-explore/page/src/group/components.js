// Numbers for the different components of paths.
//
// Equal ranges of bytes get equal numbers: a hash table in typed arrays, since a page has a million ways.

export class Components {
  constructor(bytes, most) {
    this.bytes = bytes;
    let slots = 64;
    while (slots < most * 2) slots *= 2;
    this.slots = new Uint32Array(slots);
    this.from = [];
    this.to = [];
  }

  get size() {
    return this.from.length;
  }

  number(from, to) {
    const { bytes, slots } = this;
    let hash = 2166136261;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at], 16777619);
    const mask = slots.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const number = slots[slot];
      if (number === 0) {
        this.to.push(to);
        slots[slot] = this.from.push(from);
        return this.from.length - 1;
      }
      if (this.same(number - 1, from, to)) return number - 1;
    }
  }

  same(number, from, to) {
    const first = this.from[number];
    if (this.to[number] - first !== to - from) return false;
    for (let i = 0; i < to - from; i++) if (this.bytes[first + i] !== this.bytes[from + i]) return false;
    return true;
  }
}
