// Debian's Chromium, driven by puppeteer-core, for the tests.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';

const PROGRAMS = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** A browser without a window, and without any network. */
export function launch() {
  const executablePath = PROGRAMS.find(path => path && existsSync(path));
  if (!executablePath) throw new Error('no Chromium: apt-get install chromium');
  return puppeteer.launch({
    executablePath,
    protocolTimeout: 30000,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--font-render-hinting=none',
      '--hide-scrollbars',
      '--disable-dev-shm-usage',
    ],
  });
}

const directory = mkdtempSync(join(tmpdir(), 'weld-explorer-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
let files = 0;

/** Puts a page into a file and returns its address. */
export function fileOf(html) {
  const path = join(directory, `page-${files++}.html`);
  writeFileSync(path, html);
  return pathToFileURL(path).href;
}

/**
 * Opens `address` and waits for its data. The tab gets `problems`: what went wrong in it, and `requests`: what it
 * wanted from elsewhere.
 */
export async function open(
  browser,
  address,
  { width = 1280, height = 800, dark = false, ready = true, scale = 1 } = {},
) {
  // Each tab has a storage of its own, so that no test sees another's choices.
  const context = await browser.createBrowserContext();
  const tab = await context.newPage();
  tab.once('close', () => context.close().catch(() => {}));
  tab.problems = [];
  tab.requests = [];
  tab.on('pageerror', error => tab.problems.push(String(error)));
  tab.on('console', message => {
    if (message.type() === 'error') tab.problems.push(message.text());
  });
  tab.on('request', request => {
    if (!request.url().startsWith('file:')) tab.requests.push(request.url());
  });
  await tab.setViewport({ width, height, deviceScaleFactor: scale });
  await tab.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]);
  await tab.goto(address);
  if (ready) await tab.waitForSelector('html[data-ready], html[data-failed]', { timeout: 60000 });
  return tab;
}
