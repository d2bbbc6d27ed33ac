/** A lite, and a browser in which its administrator has signed in. Groups of tests share it, because it costs 15 s of CPU. */
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { ADMIN, startLite } from './lite-instance.ts';
import type { LiteInstance } from './lite-instance.ts';
import { openWatchedPage } from './watched-page.ts';
import type { WatchedPage } from './watched-page.ts';

export type OpenUi = { lite: LiteInstance; browser: Browser; tab: WatchedPage; page: Page; close(): Promise<void> };

/** `prepare` makes what the UI shows, before it is opened at `path`. */
export async function openUi(
  contents: Parameters<typeof startLite>[0],
  prepare: (lite: LiteInstance) => Promise<void>,
  ...at: [path?: string, from?: 'a deep link' | 'the login page']
): Promise<OpenUi> {
  const lite = await startLite(contents);
  let browser: Browser | undefined;
  const close = async (): Promise<void> => {
    await browser?.close();
    await lite.stop();
  };
  try {
    await prepare(lite);
    browser = await launchBrowser();
    const tab = await openWatchedPage(browser, lite.url);
    await tab.signIn({ username: ADMIN, password: lite.password }, ...at);
    return { lite, browser, tab, page: tab.page, close };
  } catch (error) {
    await close();
    throw error;
  }
}
