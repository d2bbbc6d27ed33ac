/** Debian's Chromium, driven by Playwright. `npm test` installs it where it is missing and may. */
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
/** No compilation in the background, and room for young objects: eight loads of the web UI cost 15 s of CPU instead of 21. */
const SCRIPTS = '--no-opt --no-maglev --min-semi-space-size=32 --max-semi-space-size=64';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--js-flags=${SCRIPTS}`,
];

export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });

/** A page that remembers everything that went wrong on it. `expected` are statuses the test provokes. */
export async function openPage(
  browser: Browser,
  expected: readonly number[] = [],
): Promise<{ page: Page; problems: string[] }> {
  const page = await browser.newPage();
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
