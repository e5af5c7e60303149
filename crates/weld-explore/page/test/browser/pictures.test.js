// Pictures compared with those in pictures/: made small, so that neither fonts nor the smoothing of edges count.
// `WELD_WRITE_PICTURES=1 node --test test/browser/pictures.test.js` writes them anew: look at them then.

import { test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PNG } from 'pngjs';
import { program } from '../synthetic.js';
import { launch, open, fileOf } from './browser.js';

const directory = join(dirname(fileURLToPath(import.meta.url)), 'pictures');
const STEP = 10;

const views = [
  { name: 'sections', made: { pieces: 2500 }, hash: '#debug=with' },
  { name: 'namespaces-dark', made: { pieces: 2500 }, hash: '#by=namespace', dark: true },
  { name: 'search', made: { pieces: 2500 }, hash: '#by=source&find=render' },
  { name: 'compare', made: { pieces: 1500, old: true }, hash: '' },
];

/** The mean colours of squares of a PNG. */
function small(png) {
  const { width, height, data } = PNG.sync.read(Buffer.from(png));
  const out = new PNG({ width: Math.floor(width / STEP), height: Math.floor(height / STEP) });
  for (let y = 0; y < out.height; y++) {
    for (let x = 0; x < out.width; x++) {
      for (let channel = 0; channel < 4; channel++) {
        let sum = 0;
        for (let dy = 0; dy < STEP; dy++) {
          for (let dx = 0; dx < STEP; dx++)
            sum += data[4 * ((y * STEP + dy) * width + x * STEP + dx) + channel];
        }
        out.data[4 * (y * out.width + x) + channel] = Math.round(sum / STEP ** 2);
      }
    }
  }
  return out;
}

test('pictures are as they were', async t => {
  const browser = await launch();
  try {
    for (const { name, made, hash, dark } of views) {
      const tab = await open(browser, fileOf(program(made).html()) + hash, {
        width: 1000,
        height: 640,
        dark,
      });
      // The picture alone, of a size that no font decides.
      await tab.evaluate(() => {
        const style = document.getElementById('picture').style;
        Object.assign(style, {
          position: 'fixed',
          left: '0',
          top: '0',
          width: '800px',
          height: '500px',
          zIndex: 9,
        });
      });
      await new Promise(done => setTimeout(done, 600));
      const now = small(await tab.screenshot({ clip: { x: 0, y: 0, width: 800, height: 500 } }));
      await tab.close();
      compare(t, name, now);
    }
  } finally {
    await browser.close();
  }
});

function compare(t, name, now) {
  const path = join(directory, `${name}.png`);
  if (process.env.WELD_WRITE_PICTURES || !existsSync(path)) {
    assert.ok(process.env.WELD_WRITE_PICTURES, `${path} is not there`);
    writeFileSync(path, PNG.sync.write(now));
    return;
  }
  const wanted = PNG.sync.read(readFileSync(path));
  assert.deepEqual([now.width, now.height], [wanted.width, wanted.height]);
  let sum = 0;
  let far = 0;
  for (let i = 0; i < now.data.length; i++) {
    const difference = Math.abs(now.data[i] - wanted.data[i]);
    sum += difference;
    if (difference > 48) far++;
  }
  const mean = sum / now.data.length;
  t.diagnostic(`${name}: mean difference ${mean.toFixed(2)}, ${far} far apart`);
  assert.ok(mean < 4 && far < now.data.length * 0.01, `${name}: ${mean.toFixed(2)} apart, ${far} far`);
}
