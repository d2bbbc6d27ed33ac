/** Debian's Chromium, driven by Playwright. `npm test` installs it where it is missing and may. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';

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

export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });

/** Two cores may serve a dozen of processes while this runs. */
const PATIENCE_MS = 90_000;

/** A page that remembers everything that went wrong on it. `expected` are statuses the test provokes. */
export async function openPage(
  browser: Browser,
  expected: readonly number[] = [],
): Promise<{ page: Page; problems: string[] }> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`page error: ${error.message}`));
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
