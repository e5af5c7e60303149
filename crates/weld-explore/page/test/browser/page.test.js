// The page in a real browser: what a user does, and what hostile files do.

import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { program } from '../synthetic.js';
import { fill } from '../writer.js';
import { launch, open, fileOf } from './browser.js';

let browser;
let plain;
let compared;
let hostile;
const made = program({ pieces: 2500 });

before(async () => {
  browser = await launch();
  plain = fileOf(made.html());
  compared = fileOf(program({ pieces: 1500, old: true }).html());
  hostile = fileOf(program({ pieces: 500, hostile: true }).html());
});
after(() => browser.close());

/** Runs `body` in a tab, which must have had no errors and asked for nothing elsewhere. */
async function inTab(address, body, options) {
  const tab = await open(browser, address, options);
  try {
    await body(tab);
    assert.deepEqual(tab.problems, []);
    assert.deepEqual(tab.requests, []);
  } finally {
    await tab.close();
  }
}

const text = (tab, selector) => tab.$eval(selector, element => element.textContent);
const crumbs = tab => tab.$$eval('#crumbs button', buttons => buttons.map(button => button.textContent));
const rows = tab =>
  tab.$$eval('#table .row', elements =>
    elements.map(element => [...element.children].map(cell => cell.textContent)),
  );
// Written a moment after the last change.
const hash = async tab => {
  await new Promise(done => setTimeout(done, 250));
  return tab.evaluate(() => location.hash);
};
const total = tab =>
  tab.$eval('#total', ({ dataset }) => ({ shown: Number(dataset.shown), all: Number(dataset.all) }));
const choose = (tab, id, value) => tab.select(`#${id}`, value);

async function searchFor(tab, words) {
  await tab.$eval('#find', element => (element.value = ''));
  await tab.type('#find', words);
  await tab.waitForFunction(
    wanted => document.documentElement.dataset.searched === wanted,
    { timeout: 30000 },
    words,
  );
}

test('the sums are the file', () =>
  inTab(plain, async tab => {
    const sums = await total(tab);
    assert.equal(sums.all, made.meta.file_size);
    const debug = made.tables.pieces.size.reduce((sum, size, i) => {
      const section = made.tables.pieces.output_section[i];
      return (
        sum +
        (section && made.meta.kinds[made.tables.output_sections.kind[section - 1]].startsWith('debug')
          ? size
          : 0)
      );
    }, 0);
    assert.equal(sums.all - sums.shown, debug);
    assert.equal(await tab.$eval('#warning', element => element.hidden), true);
    await choose(tab, 'debug', 'with');
    assert.deepEqual(await total(tab), { shown: made.meta.file_size, all: made.meta.file_size });
    await choose(tab, 'size', 'memory');
    assert.equal(
      (await total(tab)).all,
      made.tables.pieces.memory.reduce((a, b) => a + b),
    );
  }));

test('the picture has colours, and the table rows', () =>
  inTab(plain, async tab => {
    const colours = await tab.$eval('#canvas', canvas => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      return seen.size;
    });
    assert.ok(colours > 10, `${colours} colours`);
    const [first] = await rows(tab);
    assert.equal(first[0], '.text');
  }));

test('going in by the table and the name of a group, and out by keys, crumbs and back', () =>
  inTab(plain, async tab => {
    await tab.click('#table .row .group-name');
    assert.deepEqual(await crumbs(tab), ['prog', '.text']);
    assert.match(await hash(tab), /path=\.text/);
    // The name of the largest group is in the corner.
    const box = await (await tab.$('#outlines')).boundingBox();
    await tab.mouse.click(box.x + 30, box.y + 8);
    assert.equal((await crumbs(tab)).length, 3);
    await tab.keyboard.press('Backspace');
    assert.equal((await crumbs(tab)).length, 2);
    await tab.click('#crumbs button');
    assert.deepEqual(await crumbs(tab), ['prog']);
    await tab.goBack();
    await tab.waitForFunction(() => document.querySelectorAll('#crumbs button').length === 2);
    await tab.goForward();
    await tab.waitForFunction(() => document.querySelectorAll('#crumbs button').length === 1);
  }));

test('double click and wheel zoom', () =>
  inTab(plain, async tab => {
    const box = await (await tab.$('#outlines')).boundingBox();
    await tab.mouse.click(box.x + 200, box.y + 200, { count: 2 });
    assert.equal((await crumbs(tab)).length, 2);
    await tab.mouse.wheel({ deltaY: 120 });
    await tab.waitForFunction(() => document.querySelectorAll('#crumbs button').length === 1);
  }));

test('a click selects, tells what it is and why it is there', () =>
  inTab(plain, async tab => {
    const box = await (await tab.$('#outlines')).boundingBox();
    await tab.mouse.move(box.x + 200, box.y + 200);
    assert.equal(await tab.$eval('#tooltip', element => element.hidden), false);
    await tab.mouse.click(box.x + 200, box.y + 200);
    await tab.waitForSelector('#details .way .root');
    assert.match(await text(tab, '#details'), /Why is it there\?.*(entry _start|exported api_version)/s);
    assert.match(await text(tab, '#details'), /Without it .* would go/s);
    assert.match(await hash(tab), /piece=\d+/);
    // The first reference on the way leads to that piece.
    const title = await text(tab, '#details h2');
    await tab.click('#details .way .link');
    assert.notEqual(await text(tab, '#details h2'), title);
    await tab.keyboard.press('Escape');
    assert.equal(await tab.$eval('#details', element => element.hidden), true);
  }));

test('shared libraries: which, what of them, who needs it', () =>
  inTab(plain, async tab => {
    await tab.waitForSelector('#libraries-button:not([hidden])');
    await tab.keyboard.press('l');
    assert.match(await text(tab, '#libraries'), /libstdc\+\+\.so\.6 7 symbols.*libidle\.so\.1 nothing/s);
    await tab.click('#libraries details summary');
    await tab.waitForSelector('#libraries details details summary');
    await tab.click('#libraries details details summary');
    const link = await tab.waitForSelector('#libraries .link');
    const name = await link.evaluate(element => element.textContent);
    await link.click();
    assert.equal(await tab.$eval('#libraries', dialog => dialog.open), false);
    assert.equal(await text(tab, '#details h2'), name);
    await tab.waitForSelector('#details .wanted');
    assert.match(await text(tab, '#details .wanted'), /std::f\d\(\) libstdc\+\+\.so\.6/);
  }));

test('links open the same view', () =>
  inTab(plain, async tab => {
    await choose(tab, 'by', 'namespace');
    await tab.click('#table .row .group-name');
    await tab.click('#table .cell-name button');
    await searchFor(tab, 'render');
    await tab.click('#table .row .cell-size');
    const state = async at => ({
      crumbs: await crumbs(at),
      rows: await rows(at),
      found: await text(at, '#found'),
      title: await text(at, '#details h2'),
    });
    const wanted = await state(tab);
    const other = await open(browser, plain + (await hash(tab)));
    await other.waitForFunction(() => document.documentElement.dataset.searched === 'render');
    assert.deepEqual(await state(other), wanted);
    assert.deepEqual(other.problems, []);
    await other.close();
  }));

test('addresses that make no sense do no harm', async () => {
  for (const address of [
    '#by=nothing&path=a/b/c&piece=99999999&sort=colour&size=x&debug=y',
    '#path=%E0%A4%A',
    '#path=~rest:99999999',
    '#find=(&regex=1',
    '#piece=1e9&tab=7',
  ]) {
    await inTab(plain + address, async tab => {
      assert.equal((await total(tab)).all, made.meta.file_size);
      assert.ok((await rows(tab)).length > 3);
    });
  }
});

test('search: sums, highlights, expressions', () =>
  inTab(plain, async tab => {
    await searchFor(tab, 'symbol:render');
    const expected = { count: 0, sum: 0 };
    made.tables.pieces.name.forEach((id, i) => {
      const section = made.tables.pieces.output_section[i];
      const isDebug = section && made.tables.output_sections.kind[section - 1] === 5;
      if (/render/i.test(made.names.list[id]) && made.tables.pieces.size[i] && !isDebug) {
        expected.count++;
        expected.sum += made.tables.pieces.size[i];
      }
    });
    assert.deepEqual(
      await tab.$eval('#found', ({ dataset }) => ({
        count: Number(dataset.count),
        sum: Number(dataset.sum),
      })),
      expected,
    );
    await tab.click('#tab-pieces');
    assert.ok((await rows(tab)).every(([name]) => /render/i.test(name)));
    await tab.click('#regex');
    await searchFor(tab, '^codec_.*_io');
    assert.ok((await rows(tab)).every(([name]) => /^codec_.*_io/.test(name)));
    await tab.type('#find', '(');
    await tab.waitForSelector('.search.wrong');
    await tab.focus('#find');
    await tab.keyboard.press('Escape');
    await tab.waitForFunction(() => document.getElementById('found').textContent === '');
  }));

test('the table sorts, and shows all symbols with few elements', () =>
  inTab(plain, async tab => {
    await tab.click('#tab-pieces');
    const count = await tab.$eval('#table', element => Number(element.getAttribute('aria-rowcount')));
    assert.ok(count > 2000);
    assert.ok((await rows(tab)).length < 80);
    await tab.click('#table .cell-name button');
    const names = (await rows(tab)).map(([name]) => name);
    assert.deepEqual(names, [...names].sort(new Intl.Collator('en', { numeric: true }).compare));
    await tab.$eval('.table-scroll', element => (element.scrollTop = 20000));
    await tab.waitForFunction(
      () => Number(document.querySelector('#table .row').getAttribute('aria-rowindex')) > 700,
    );
  }));

test('keys', () =>
  inTab(plain, async tab => {
    await tab.focus('#picture');
    await tab.keyboard.press('ArrowRight');
    await tab.keyboard.press('Enter');
    assert.equal((await crumbs(tab)).length, 2);
    await tab.keyboard.press('ArrowDown');
    await tab.keyboard.press('ArrowRight');
    assert.match(await text(tab, '#spoken'), /\d/);
    await tab.keyboard.press('Escape');
    await tab.keyboard.press('Escape');
    assert.equal((await crumbs(tab)).length, 1);
    await tab.keyboard.press('/');
    assert.equal(await tab.evaluate(() => document.activeElement.id), 'find');
    await tab.keyboard.press('Escape');
    await tab.keyboard.press('?');
    assert.equal(await tab.$eval('#help', dialog => dialog.open), true);
    await tab.keyboard.press('Escape');
    assert.equal(await tab.$eval('#help', dialog => dialog.open), false);
    await tab.keyboard.press('4');
    assert.equal(await tab.$eval('#by', element => element.value), 'namespace');
    await tab.keyboard.press('t');
    assert.equal(await tab.$eval('#panel', element => element.hidden), true);
    await tab.keyboard.press('d');
    assert.equal(await tab.evaluate(() => document.documentElement.dataset.theme), 'dark');
  }));

for (const dark of [false, true]) {
  test(`follows the preference for ${dark ? 'dark' : 'light'}`, () =>
    inTab(
      plain,
      async tab => {
        const ground = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assert.equal(Number(/\d+/.exec(ground)[0]) < 100, dark);
      },
      { dark },
    ));
}

test('comparison: old, new, change, sorted by change', () =>
  inTab(compared, async tab => {
    const heads = await tab.$$eval('.table-head .cell', cells =>
      cells.map(cell => cell.textContent.replace(/ [▾▴]/, '')),
    );
    assert.deepEqual(heads, ['Name', 'Old', 'New', 'Change', 'Pieces']);
    await tab.click('.table-head .cell-delta button');
    const parse = changed => {
      const [, sign, value, unit] = /^([+−]?)([\d.]+) (\w+)$/.exec(changed);
      return (sign === '−' ? -1 : 1) * Number(value) * { B: 1, kB: 1e3, MB: 1e6 }[unit];
    };
    const changes = (await rows(tab)).map(row => parse(row[3]));
    assert.deepEqual(
      changes,
      [...changes].sort((a, b) => b - a),
    );
    assert.match(await text(tab, '#total'), /→/);
    await choose(tab, 'size', 'change');
    assert.ok((await rows(tab)).length > 0);
  }));

test('names in files are only ever text', async () => {
  for (const by of ['section', 'object', 'source', 'namespace']) {
    await inTab(`${hostile}#by=${by}&debug=with`, async tab => {
      await tab.click('#tab-pieces');
      await searchFor(tab, 'onerror');
      assert.ok((await rows(tab)).length > 0);
      await tab.click('#table .row .cell-size');
      const box = await (await tab.$('#outlines')).boundingBox();
      for (let x = 20; x < box.width; x += 60) await tab.mouse.move(box.x + x, box.y + box.height / 3);
      await tab.mouse.click(box.x + 100, box.y + 100);
      assert.equal(await tab.evaluate(() => window.pwned), undefined);
      assert.equal(
        await tab.evaluate(
          () => document.querySelectorAll('img, b, script:not([type]):nth-of-type(n+9), #app h1 ~ h1').length,
        ),
        0,
      );
      assert.doesNotMatch(await text(tab, 'body'), /\u202e|\u0007/);
      const sums = await total(tab);
      assert.equal(sums.all, sums.shown);
    });
  }
});

test('the policy lets nothing else run or load', async () => {
  const tab = await open(browser, plain);
  const outcome = await tab.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.pwned = 1';
    document.body.append(script);
    const image = new Image();
    const loaded = new Promise(done => {
      image.onload = () => done('loaded');
      image.onerror = () => done('refused');
    });
    image.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
    const fetched = await fetch('http://127.0.0.1:9/').then(
      () => 'fetched',
      () => 'refused',
    );
    return { pwned: window.pwned ?? 'refused', image: await loaded, fetched };
  });
  assert.deepEqual(outcome, { pwned: 'refused', image: 'refused', fetched: 'refused' });
  // Scripts by their hashes only: nothing remote, nothing made of strings.
  const policy = await tab.$eval('meta[http-equiv=Content-Security-Policy]', meta => meta.content);
  assert.match(
    policy,
    /^default-src 'none'; script-src( 'sha256-[^']+'){2}; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/,
  );
  await tab.close();
});

test('pages without data, and damaged ones, say so', async () => {
  const html = made.html();
  const cases = {
    'empty page': fill(''),
    'not JSON': html.replace('{"format":4', '{"format":'),
    'format 7': html.replace('"format":4', '"format":7'),
    'cannot be unpacked': html.replace(/(id="weld-names">[^<]{400})[^<]*/, '$1'),
    'did not write': html.replace('id="weld-tables">', 'id="weld-tables">\u0151'),
    'is absent': html.replace('id="weld-tables"', 'id="weld-chairs"'),
    'names than': html.replace(/"names":\d+/, '"names":17'),
    'is outside its part': html.replace(
      /(?<start>"column":"role","blob":"tables","encoding":"[a-z-]+","offset":)\d+/,
      '$<start>99999999',
    ),
  };
  for (const [words, page] of Object.entries(cases)) {
    assert.notEqual(page, html, words);
    const tab = await open(browser, fileOf(page), { ready: false });
    await tab.waitForFunction(() => !/^Reading/.test(document.getElementById('message-text').textContent));
    assert.match(await text(tab, '#message-text'), new RegExp(words));
    assert.equal(await tab.$eval('#app', element => element.hidden), true);
    assert.deepEqual(tab.problems, []);
    await tab.close();
  }
});

test('damaged references leave the picture', () => {
  const cut = made.html().replace(/(id="weld-graph">[^<]{400})[^<]*/, '$1');
  return inTab(fileOf(cut), async tab => {
    assert.match(await text(tab, '#warning'), /references in this page are damaged/);
    assert.equal((await total(tab)).all, made.meta.file_size);
    await tab.goto(`${tab.url()}#piece=12`);
    await tab.waitForFunction(() => /damaged/.test(document.getElementById('details').textContent));
  });
});

test('what is not in the picture has details', () =>
  inTab(plain, async tab => {
    const zero = made.tables.pieces.size.findIndex(
      (size, i) => size === 0 && made.tables.pieces.input_section[i],
    );
    await tab.goto(`${plain}#piece=${zero}`);
    await tab.reload();
    await tab.waitForSelector('#details .way');
    assert.match(await text(tab, '#details'), /In memory/);
  }));

test('sums that are not the file are told', () => {
  const wrong = program({ pieces: 300 });
  wrong.meta.file_size += 5;
  return inTab(fileOf(wrong.html()), async tab => assert.match(await text(tab, '#warning'), /page is wrong/));
});

test('too old a browser is told', async () => {
  const tab = await browser.newPage();
  await tab.evaluateOnNewDocument(() => delete window.DecompressionStream);
  await tab.goto(plain);
  assert.match(await text(tab, '#message-text'), /newer browser/);
  await tab.close();
});

test('what was not recorded is not shown', () =>
  inTab(fileOf(program({ pieces: 300, graph: false, debug: false }).html()), async tab => {
    assert.equal(await tab.$eval('#debug-field', element => element.hidden), true);
    const box = await (await tab.$('#outlines')).boundingBox();
    await tab.mouse.click(box.x + 100, box.y + 100);
    assert.match(await text(tab, '#details'), /not known/);
  }));

test('a file of nothing, and one of debug information only', async () => {
  const nothing = program({ pieces: 60 });
  for (const table of ['pieces', 'input_sections', 'objects', 'archives', 'output_sections']) {
    for (const column of Object.keys(nothing.tables[table])) nothing.tables[table][column] = [];
  }
  Object.assign(nothing.tables, { graph: { start: [0], to: [] }, roots: { input_section: [], reason: [] } });
  nothing.meta.file_size = 0;
  await inTab(fileOf(nothing.html()), async tab => {
    assert.equal(await tab.$eval('#empty', element => element.hidden), false);
    for (const key of ['1', '2', '3', 'g', 'ArrowRight', 'Enter', 'Backspace']) await tab.keyboard.press(key);
  });
  const debug = program({ pieces: 200 });
  debug.tables.output_sections.kind.fill(5);
  debug.tables.pieces.output_section.fill(1);
  await inTab(fileOf(debug.html()), async tab => {
    const sums = await total(tab);
    assert.deepEqual(sums, { shown: debug.meta.file_size, all: debug.meta.file_size });
  });
});

for (const [width, height] of [
  [800, 600],
  [1280, 800],
  [3840, 2160],
]) {
  test(`fits ${width} × ${height}`, () =>
    inTab(
      plain,
      async tab => {
        const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide} wide`);
        const box = await (await tab.$('#picture')).boundingBox();
        assert.ok(box.width > width * 0.5 && box.height > height * 0.55, `${box.width} × ${box.height}`);
      },
      { width, height },
    ));
}
