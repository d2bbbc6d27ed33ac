/** Debian's Chromium, driven by Playwright. `npm test` installs it where it is missing and may. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { SCREENSHOTS } from '../paths.ts';

/**
 * The same engine without the desktop around it: signing in, two loads and three other pages of the web UI cost 11 s of CPU
 * instead of 20, and 16 s instead of 75 on a busy machine.
 */
const HEADLESS_SHELL = '/usr/lib/chromium/chromium-headless-shell';
const EXECUTABLE = process.env['CHROMIUM'] ?? (existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : '/usr/bin/chromium');
/**
 * No compilation in the background, and room for young objects: eight loads of the web UI cost 15 s of CPU instead of 21. Only
 * what is called is compiled: 9 instead of 11 s for the pages above.
 */
const SCRIPTS = '--no-opt --no-maglev --max-lazy --min-semi-space-size=32 --max-semi-space-size=64';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--js-flags=${SCRIPTS}`,
];

/**
 * Animations end with the frame after their first: the process that draws frames then costs 0.8 s of CPU instead of 2.0 s
 * for four loads and a dozen pages of the web UI. Code that waits for the end of an animation still receives its event.
 */
const ANIMATION_SPEED = 1_000;

export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });

/** A picture costs up to 0.6 s of CPU, and only a failure needs one. `SVC_TEST_PICTURES=1` keeps one of every page. */
const KEEPS_PICTURES = process.env['SVC_TEST_PICTURES'] === '1';

/** Writes a picture into test-output/ui, of a failure in any case. */
export async function keepPicture(page: Page, name: string, of: 'a page' | 'a failure' = 'a page'): Promise<void> {
  if (of === 'a page' && !KEEPS_PICTURES) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name.replaceAll(/[^\w-]+/g, '-')}.png`) });
}

/** Two cores may serve a dozen of processes while this runs. */
const PATIENCE_MS = 90_000;

/** Returns a patient page without animations, in a context of its own. */
export async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.setDefaultNavigationTimeout(PATIENCE_MS);
  const session = await context.newCDPSession(page);
  await session.send('Animation.enable');
  await session.send('Animation.setPlaybackRate', { playbackRate: ANIMATION_SPEED });
  return page;
}

/** The stream of the grid of the web UI, which it gives up for the next one without catching that. */
export const STREAM_LEFT = 'signal is aborted without reason';

/** A page that remembers everything that went wrong on it. `expected` are statuses the test provokes. */
export async function openPage(
  browser: Browser,
  expected: readonly number[] = [],
): Promise<{ page: Page; problems: string[] }> {
  const page = await newPage(browser);
  const problems: string[] = [];
  page.on('pageerror', (error) => {
    if (error.message !== STREAM_LEFT) problems.push(`page error: ${error.message}`);
  });
  page.on('console', (message) => {
    const isProvoked = expected.some((status) => message.text().includes(`status of ${status}`));
    if (message.type() === 'error' && !isProvoked) problems.push(`console: ${message.text()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400 && !expected.includes(response.status()))
      problems.push(`${response.status()} ${response.url()}`);
  });
  return { page, problems };
}
