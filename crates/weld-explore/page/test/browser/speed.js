// How long a page with many pieces takes in a browser: `node test/browser/speed.js [PIECES]`, or as part of the
// tests with a limit (see speed.test.js).

import { program } from '../synthetic.js';
import { launch, open, fileOf } from './browser.js';

const between = (marks, from, to) => marks[to] - marks[from];

/** Opens a page with `pieces` pieces in `browser` and returns milliseconds by what was done. */
export async function measure(browser, pieces) {
  const html = program({ pieces, compact: true, output: 'large' }).html();
  const address = fileOf(html);
  const tab = await open(browser, address, { width: 1600, height: 1000 });
  const figures = { page: html.length };
  const marks = await readMarks(tab);
  figures.parsed = marks['weld:start'];
  figures.unpack = between(marks, 'weld:start', 'weld:unpacked');
  figures.names = between(marks, 'weld:unpacked', 'weld:names');
  figures.draw = between(marks, 'weld:names', 'weld:first-picture');
  figures.first = marks['weld:first-shown'];
  await tab.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'no-preference' }]);
  figures.zoomTask = await longestTask(tab, async () => {
    for (const label of ['.text', 'lib/libllvm-lite.a']) {
      await tab.evaluate(
        name => [...document.querySelectorAll('.group-name')].find(el => el.textContent === name).click(),
        label,
      );
      await sleep(500);
    }
    for (let i = 0; i < 2; i++) {
      await tab.keyboard.press('Backspace');
      await sleep(500);
    }
  });
  for (const by of ['source', 'namespace', 'instance']) {
    figures[by] = await timed(
      tab,
      id => {
        const select = document.getElementById('by');
        select.value = id;
        select.dispatchEvent(new Event('change'));
      },
      by,
    );
  }
  figures.allSymbols = await timed(tab, () => document.getElementById('tab-pieces').click());
  const begin = Date.now();
  await tab.focus('#find');
  await tab.keyboard.type('render');
  await tab.waitForFunction(() => document.documentElement.dataset.searched === 'render', { timeout: 60000 });
  figures.search = Date.now() - begin;
  figures.problems = tab.problems;
  await tab.close();
  return figures;
}

function readMarks(tab) {
  return tab.evaluate(() => {
    const marks = {};
    for (const { name, startTime } of performance.getEntriesByType('mark')) marks[name] ??= startTime;
    return marks;
  });
}

const sleep = ms => new Promise(done => setTimeout(done, ms));

function timed(tab, act, argument) {
  return tab.evaluate(`new Promise(done => {
    const begin = performance.now();
    (${act})(${JSON.stringify(argument)});
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin), 0));
  })`);
}

// The longest time between two frames while `act` runs.
async function longestTask(tab, act) {
  await tab.evaluate(() => {
    window.weldGaps = [];
    let last = performance.now();
    const next = now => {
      window.weldGaps.push(now - last);
      last = now;
      if (window.weldGaps) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await act();
  return tab.evaluate(() => {
    const gaps = window.weldGaps.sort((a, b) => a - b);
    const at = share => Math.round(gaps[Math.floor((gaps.length - 1) * share)]);
    return { median: at(0.5), p95: at(0.95), longest: at(1), frames: gaps.length };
  });
}

/** The figures in one line. */
export function line(figures) {
  const ms = name => `${name} ${Math.round(figures[name])}`;
  const { zoomTask: zoom } = figures;
  return (
    `page ${(figures.page / 1e6).toFixed(1)} MB; ms: ${['parsed', 'unpack', 'names', 'draw', 'first', 'source', 'namespace', 'instance', 'allSymbols', 'search'].map(ms).join(', ')}; ` +
    `zoom frames: median ${zoom.median}, 95 % ${zoom.p95}, longest ${zoom.longest} of ${zoom.frames}`
  );
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const browser = await launch();
  const figures = await measure(browser, Number(process.argv[2] ?? 1000000));
  console.log(line(figures), figures.problems);
  await browser.close();
}
