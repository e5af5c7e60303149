// The tables of a page, column by column.
//
// The description lists columns with their blob and place; a column is decoded when it is first asked for, so
// that the first picture waits only for what it shows.

import { decodeColumn, decodeAddresses, DamagedColumn } from './leb128.js';
import { DamagedPage } from './blobs.js';

export class Tables {
  /** `meta` is the page's description, `blobs` a map from names of blobs to bytes. More blobs may come later. */
  constructor(meta, blobs) {
    this.blobs = blobs;
    this.columns = new Map();
    this.decoded = new Map();
    for (const column of meta.columns ?? []) this.columns.set(`${column.table}.${column.column}`, column);
  }

  /** Is there a column `name` ("pieces.size")? */
  has(name) {
    return this.columns.has(name);
  }

  /** Rows of `table`: those of any of its columns, which have all as many. */
  rows(table) {
    for (const column of this.columns.values()) if (column.table === table) return column.count;
    return 0;
  }

  /** The numbers of column `name`; zeros if the page has no such column. */
  column(name) {
    let numbers = this.decoded.get(name);
    if (!numbers) {
      const place = this.columns.get(name);
      numbers = place
        ? this.#decode(name, place, decodeColumn)
        : new Uint32Array(this.rows(name.split('.')[0]));
      this.decoded.set(name, numbers);
    }
    return numbers;
  }

  /** Column `name` exact to 64 bits. */
  addresses(name) {
    const place = this.columns.get(name);
    return place
      ? this.#decode(name, place, decodeAddresses)
      : new BigUint64Array(this.rows(name.split('.')[0]));
  }

  /** References in column `name`, each below `limit`; others mean a damaged page. */
  references(name, limit) {
    const ids = this.column(name);
    for (let row = 0; row < ids.length; row++) {
      if (ids[row] >= limit) throw new DamagedPage(`row ${row} of ${name} refers to ${ids[row]} of ${limit}`);
    }
    return ids;
  }

  #decode(name, place, decode) {
    const blob = this.blobs.get(place.blob);
    if (!blob) throw new DamagedPage(`the part “${place.blob}” is absent`);
    if (!(place.offset >= 0 && place.bytes >= 0 && place.offset + place.bytes <= blob.length)) {
      throw new DamagedPage(`${name} is outside its part`);
    }
    const rows = this.rows(place.table);
    if (place.count !== rows && place.table !== 'graph')
      throw new DamagedPage(`${name} has ${place.count} rows of ${rows}`);
    try {
      return decode(blob.subarray(place.offset, place.offset + place.bytes), place.count, place.encoding);
    } catch (error) {
      if (error instanceof DamagedColumn) throw new DamagedPage(`${name}: ${error.message}`);
      throw error;
    }
  }
}
