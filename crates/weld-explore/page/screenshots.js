// Makes the pictures of the documentation: node screenshots.js OUT-DIR LINKED.html SYMBOL PAGE.html COMPARISON.html
//
// LINKED by sections with a symbol selected (what SYMBOL finds first), light; PAGE by namespaces, dark; a comparison.
// PNGs are written with a palette, which keeps pictures of flat colours below 150 kB.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, open } from './test/browser/browser.js';
import { withPalette } from './test/palette.js';

const [out, linked, symbol, program, comparison] = process.argv.slice(2);
if (!comparison) {
  console.error('usage: node screenshots.js OUT-DIR LINKED.html SYMBOL PAGE.html COMPARISON.html');
  process.exit(2);
}

/** A view: file name, page, what follows "#" in its address, and what is done there. */
const views = [
  { name: 'explorer-why', page: linked, hash: '#tab=pieces', act: tab => selectSymbol(tab, symbol) },
  { name: 'explorer-namespaces', page: program, hash: '#by=namespace', dark: true },
  { name: 'explorer-compare', page: comparison, hash: '#by=namespace&sort=delta' },
];

mkdirSync(out, { recursive: true });
const browser = await launch();
for (const { name, page, hash, dark, act } of views) {
  const address = pathToFileURL(resolve(page)).href + hash;
  const tab = await open(browser, address, { width: 1360, height: 850, dark });
  await act?.(tab);
  await new Promise(done => setTimeout(done, 1500));
  const png = withPalette(await tab.screenshot());
  writeFileSync(join(out, `${name}.png`), png);
  console.log(`${name}.png: ${png.length} bytes`);
  await tab.close();
}
await browser.close();

// Searches for a symbol, selects what is found first, and forgets the search.
async function selectSymbol(tab, words) {
  const query = `symbol:${words}`;
  await tab.type('#find', query);
  await tab.waitForFunction(wanted => document.documentElement.dataset.searched === wanted, {}, query);
  await tab.click('#table .row .cell-size');
  await tab.keyboard.press('g');
  await tab.focus('#find');
  await tab.keyboard.press('Escape');
  await tab.$eval('#find', element => element.blur());
  await tab.mouse.move(3, 3);
}
