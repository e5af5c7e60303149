// Where the page starts: reads the data that weld has put into it, then hands over to the application.
//
// The order is what the first picture needs: names and tables first, the graph of references when the browser
// has nothing else to do.

import { readMeta, readBlob, DamagedPage } from './data/blobs.js';
import { Names } from './data/names.js';
import { Model } from './data/model.js';
import { App } from './app.js';

// What the first picture does not need.
const LATER = new Set(['graph']);

async function start() {
  const meta = readMeta();
  if (!meta)
    return say(
      'This is the empty page that weld puts its data into. `weld --explore=FILE.html` makes a full one.',
    );
  performance.mark('weld:start');
  const wanted = new Set((meta.columns ?? []).map(column => column.blob));
  const now = ['words', 'names', ...[...wanted].filter(name => !LATER.has(name))];
  const read = await Promise.all(now.map(async name => [name, await readBlob(name)]));
  performance.mark('weld:unpacked');
  const blobs = new Map(read);
  const names = namesOf(meta, blobs);
  const model = new Model(meta, names, blobs);
  performance.mark('weld:names');
  const app = new App(model);
  document.getElementById('message').hidden = true;
  document.getElementById('app').hidden = false;
  app.begin();
  performance.mark('weld:first-picture');
  requestAnimationFrame(() => setTimeout(() => performance.mark('weld:first-shown'), 0));
  try {
    for (const name of wanted) if (LATER.has(name)) blobs.set(name, await readBlob(name));
    app.complete();
  } catch (error) {
    if (!(error instanceof DamagedPage)) throw error;
    // Without the references the picture is still right.
    app.damaged(error.message);
  }
  document.documentElement.dataset.ready = 'true';
}

function namesOf(meta, blobs) {
  try {
    const packed = { words: blobs.get('words'), numbered: meta.words, codes: blobs.get('names') };
    blobs.delete('words');
    blobs.delete('names');
    return new Names(packed, meta.names);
  } catch (error) {
    throw new DamagedPage(error.message);
  }
}

function say(text) {
  document.getElementById('app').hidden = true;
  document.getElementById('message').hidden = false;
  document.getElementById('message-text').textContent = text;
}

if (!window.weldTooOld) {
  start().catch(error => {
    const why = error instanceof DamagedPage ? error.message : `${error.name}: ${error.message}`;
    say(`This page is damaged: ${why}.`);
    document.documentElement.dataset.failed = 'true';
  });
}
