// Makes dist/explorer.html: one file with everything in it.
//
// esbuild bundles src/main.js with what it imports; script and style go into src/index.html, and a policy that
// lets browsers run just these scripts, by their hashes, and load nothing. The result is in the repository, so
// that building weld needs no node; `node build.js --check` says whether it is what the locked tools make.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const read = name => readFileSync(join(here, name), 'utf8');
const target = ['chrome111', 'firefox115', 'safari16.4'];
const out = join(here, 'dist/explorer.html');

// Licences of what is bundled, kept as a comment in the page. d3-hierarchy is all of it.
const licence = `/*!\nBundled: d3-hierarchy ${version('d3-hierarchy')}\n${read('node_modules/d3-hierarchy/LICENSE').trim()}\n*/`;

function version(name) {
  return JSON.parse(read(`node_modules/${name}/package.json`)).version;
}

const bundled = await build({
  entryPoints: [join(here, 'src/main.js')],
  bundle: true,
  minify: true,
  charset: 'ascii',
  format: 'iife',
  target,
  legalComments: 'inline',
  banner: { js: licence },
  write: false,
});
const script = bundled.outputFiles[0].text.trim();
const early = (await transform(read('src/early.js'), { minify: true, target: 'es5' })).code.trim();
const style = (await transform(read('src/style.css'), { loader: 'css', minify: true, target })).code.trim();
const hash = text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(early)} ${hash(script)}`,
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const parts = { POLICY: policy, STYLE: style, EARLY: early, SCRIPT: script };
const page = read('src/index.html').replace(/%(POLICY|STYLE|EARLY|SCRIPT)%/g, (_, name) => parts[name]);
const marker = '<!-- weld-data -->';
if (page.split(marker).length !== 2) throw new Error('the marker for data has to be in the page once');
if (/<\/script/i.test(script + early) || /<!--/.test(script + early))
  throw new Error('the script would end early');

if (process.argv.includes('--check')) {
  if (read('dist/explorer.html') !== page) {
    console.error('dist/explorer.html is not what the sources make: run `npm run build` and commit it');
    process.exit(1);
  }
  console.log(`dist/explorer.html is what the sources make (${page.length} bytes)`);
} else {
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, page);
  console.log(`dist/explorer.html: ${page.length} bytes`);
}
