// Writes made-up pages to a directory, to look at: node test/make-pages.js DIR [PIECES]

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { program } from './synthetic.js';

const [directory = 'test/out', pieces = '4000'] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });
const write = (name, options) => {
  const html = program({ pieces: Number(pieces), ...options }).html();
  writeFileSync(join(directory, `${name}.html`), html);
  console.log(`${name}.html: ${html.length} bytes`);
};
write('program', {});
write('hostile', { hostile: true, pieces: 500 });
write('compare', { old: true });
