// Makes the pictures of the documentation: node screenshots.js OUT-DIR PAGE.html [COMPARISON.html]
//
// Views are chosen by what is in any program: the whole, light; a search by namespace, dark; a comparison. PNGs
// are written with a palette, which keeps a picture of flat colours below 150 kB.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, open } from './test/browser/browser.js';
import { withPalette } from './test/palette.js';

const [out, page, comparison] = process.argv.slice(2);
if (!page) {
  console.error('usage: node screenshots.js OUT-DIR PAGE.html [COMPARISON.html]');
  process.exit(2);
}

/** A view: file name, page, what follows "#" in its address, and what is done there. */
const views = [
  { name: 'explorer-sections', page, hash: '', act: selectLarge },
  {
    name: 'explorer-namespaces',
    page,
    hash: process.env.NAMESPACES ?? '#by=namespace&tab=pieces',
    dark: true,
  },
  { name: 'explorer-compare', page: comparison, hash: '#sort=delta&tab=pieces' },
].filter(view => view.page);

mkdirSync(out, { recursive: true });
const browser = await launch();
for (const { name, page, hash, dark, act } of views) {
  const tab = await open(browser, pathToFileURL(resolve(page)).href + hash, {
    width: 1360,
    height: 850,
    dark,
  });
  await act?.(tab);
  await new Promise(done => setTimeout(done, 1500));
  const png = withPalette(await tab.screenshot());
  writeFileSync(join(out, `${name}.png`), png);
  console.log(`${name}.png: ${png.length} bytes`);
}
await browser.close();

// A click on a large rectangle, so that the details tell something.
async function selectLarge(tab) {
  const box = await (await tab.$('#outlines')).boundingBox();
  const [x, y] = (process.env.CLICK ?? '0.3,0.3').split(',').map(Number);
  await tab.mouse.click(box.x + box.width * x, box.y + box.height * y);
  await tab.mouse.move(5, 300);
}
