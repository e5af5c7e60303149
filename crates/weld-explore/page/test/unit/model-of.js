// A model from a made-up program, by way of the page that would be written.

import { gunzipSync } from 'node:zlib';
import { fromSeptets } from '../../src/data/blobs.js';
import { Model } from '../../src/data/model.js';
import { Names } from '../../src/data/names.js';

export async function modelOf(made) {
  const html = made.html();
  const text = name => {
    const at = html.indexOf(`id="weld-${name}">`);
    if (at < 0) return null;
    const from = html.indexOf('>', at) + 1;
    return html.slice(from, html.indexOf('</script>', from));
  };
  const meta = JSON.parse(text('meta'));
  const blobs = new Map();
  for (const name of ['words', 'names', 'tables', 'graph']) {
    if (text(name)) blobs.set(name, new Uint8Array(gunzipSync(fromSeptets(text(name)))));
  }
  const packed = { words: blobs.get('words'), numbered: meta.words, codes: blobs.get('names') };
  return new Model(meta, new Names(packed, meta.names), blobs);
}
