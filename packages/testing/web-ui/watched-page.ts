/**
 * A tab of a real browser in the web UI that remembers everything that went wrong in it: errors of scripts, error toasts,
 * refused and failed requests. What a test provokes it names beforehand.
 */
import { deepEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Locator, Page, Request, Response } from 'playwright-core';
import { eventually } from '../eventually.ts';
import { STREAM_LEFT, keepPicture, newPage } from './browser.ts';

/** Two cores may serve a dozen of processes while this runs. */
const PATIENCE_MS = 90_000;
/** So long without a request begun or under way, and what the page asked for has been answered and drawn. */
const QUIET_MS = 250;
const TURNS_OF_AN_ANSWER = 2;
/** A page that refreshes itself all the time is used as it is. */
const UNQUIET_MS = 20_000;
/** A dialog opens at once, and asks for what it shows. */
const DIALOG_MS = 10_000;
/**
 * The log of a running task and the grid are streams, which end with the page. It is settled this long after their first
 * word: what comes later may draw a part of the page again, and close a dialog that was just opened.
 */
const STREAM_MS = 2_000;
const STREAM_TYPE = 'application/x-ndjson';
const TOAST = 'error toast: ';
/** The server of a busy machine asks to try again shortly, and the UI does. What it does not get then is missing on the page. */
const BUSY = 503;
/** Requests that end because the page they were for is left. */
const LEFT_BEHIND = new Set(['net::ERR_ABORTED']);

export type DialogSteps = {
  button: Locator;
  open: () => Promise<void>;
  fill?: () => Promise<void>;
  /** Matches the method and the path of the request, which is not a dry run. */
  sends: RegExp;
};

export type WatchedPage = Awaited<ReturnType<typeof openWatchedPage>>;

export async function openWatchedPage(browser: Browser, url: string) {
  const page = await newPage(browser, { viewport: { width: 1_400, height: 900 } });
  const context = page.context();
  const problems: string[] = [];
  const answered: string[] = [];
  const underWay = new Set<Request>();
  /** With the time of their first word. */
  const streams = new Map<Request, number>();
  let lastEvent = Date.now();
  let provoked: readonly number[] = [];
  /** Begun while the test provoked something. The answer may come when that is over. */
  const provoking = new Map<Request, readonly number[]>();
  const refused = new Set<string>();
  await page.addInitScript({ content: REPORT_TOASTS });
  await page.addInitScript({ content: END_ANIMATIONS });
  const isProvoked = (text: string): boolean =>
    provoked.some((status) => text.includes(`status of ${status}`) || text.includes(`status code ${status}`)) ||
    (provoked.length > 0 && text.startsWith(TOAST));
  page.on('pageerror', (error) => {
    if (error.message !== STREAM_LEFT) problems.push(`page error: ${error.message}`);
  });
  page.on('console', (message) => {
    if (message.type() !== 'error' || refused.has(message.location().url)) return;
    if (message.text().includes(`status of ${BUSY}`)) return;
    if (!isProvoked(message.text())) problems.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    // With the document go its requests; of some of them nothing is heard again.
    if (request.isNavigationRequest() && request.frame() === page.mainFrame())
      for (const gone of [underWay, streams, provoking]) gone.clear();
    underWay.add(request);
    if (provoked.length > 0) provoking.set(request, provoked);
    lastEvent = Date.now();
  });
  const isOver = (request: Request): void => {
    for (const kept of [underWay, streams, provoking]) kept.delete(request);
    lastEvent = Date.now();
  };
  page.on('requestfinished', isOver);
  page.on('requestfailed', isOver);
  page.on('response', (response) => {
    const request = response.request();
    const expected = [...provoked, ...(provoking.get(request) ?? [])];
    provoking.delete(request);
    answered.push(response.url());
    if (response.headers()['content-type']?.startsWith(STREAM_TYPE)) {
      underWay.delete(request);
      streams.set(request, Date.now());
    }
    if (response.status() < 400 || response.status() === BUSY) return;
    if (expected.includes(response.status())) refused.add(response.url());
    else problems.push(described(response));
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    if (!LEFT_BEHIND.has(reason)) problems.push(`${reason}: ${request.method()} ${request.url()}`);
  });

  /** Through the login page and on to the path. From a deep link to it the UI is loaded twice. */
  async function signIn(
    who: { username: string; password: string; tenant?: string },
    path = '/dags',
    from: 'a deep link' | 'the login page' = 'the login page',
  ): Promise<void> {
    await expectingStatuses([401], async () => {
      await page.goto(from === 'a deep link' ? `${url}${path}` : `${url}/auth/login?next=${encodeURIComponent(path)}`);
      await page.waitForURL('**/auth/login?next=*');
      await page.fill('input[name=username]', who.username);
      await page.fill('input[name=password]', who.password);
      if (who.tenant !== undefined) await fillTenant(page, who.tenant);
      await page.click('button[type=submit]');
      await page.waitForURL(`${url}${path}`);
    });
  }

  /**
   * Leaves the tab to the next person. The tab stays in the origin, because Chromium then keeps its process and the scripts
   * of the UI: that saves a second each time.
   */
  async function signOut(): Promise<void> {
    await settled();
    await page.goto(`${url}/healthz`);
    await page.evaluate('localStorage.clear(); sessionStorage.clear()');
    await context.clearCookies();
    answered.length = 0;
  }

  /** What happens meanwhile may end in these statuses, and in the error toasts that tell of them. */
  async function expectingStatuses<T>(statuses: readonly number[], work: () => Promise<T>): Promise<T> {
    provoked = statuses;
    try {
      return await work();
    } finally {
      // What was asked meanwhile is answered, and the page has had time to tell of it.
      await eventually(() => provoking.size === 0, { withinMs: UNQUIET_MS }).catch(() => {});
      await haveTurns();
      provoked = [];
    }
  }

  /** In each the page does some of what it has to do: time alone says nothing of one that a busy machine lets wait. */
  async function haveTurns(count = 10): Promise<void> {
    const turns = `new Promise((done) => {
      let left = ${count};
      const turn = () => (left-- > 0 ? setTimeout(turn, 30) : done());
      turn();
    })`;
    await page.evaluate(turns).catch(() => page.waitForTimeout(300)); // it is being left
  }

  /** Into the field that has the focus: a menu or a dialog gives it away a moment after it was opened. */
  async function enter(text: string): Promise<void> {
    await page.locator('input:focus').fill(text);
  }

  const dialog = (): Locator => page.locator('[role=dialog][data-state=open]').last();
  const shell = (): Promise<void> => page.locator('#root a[href="/dags"]').first().waitFor();

  /** Opens a page of the UI and waits until it stands, with the text if there is one. */
  async function visit(path: string, text?: string | RegExp): Promise<void> {
    await page.goto(`${url}${path}`);
    await shell();
    await stands(text);
  }

  /** An answer that comes late may make a part of the page anew, and a dialog that was just opened goes with it. */
  async function stands(text: string | RegExp | undefined): Promise<void> {
    if (text !== undefined) await page.getByText(text).first().waitFor();
    await settled();
  }

  const isQuiet = (now = Date.now()): boolean =>
    underWay.size === 0 &&
    now - lastEvent > QUIET_MS &&
    [...streams.values()].every((firstWord) => now - firstWord > STREAM_MS);

  /** Everything the page has asked for is there. */
  async function settled(): Promise<void> {
    const deadline = Date.now() + UNQUIET_MS;
    const isOver = (): boolean => isQuiet() || Date.now() > deadline;
    do {
      while (!isOver()) await sleep(50);
      await haveTurns(TURNS_OF_AN_ANSWER); // in which a busy page draws the last answer, and may ask for more
    } while (!isOver());
  }

  /** Goes to another page as a click on a link does: without loading the UI again, which costs four times as much CPU (2.8 s). */
  async function go(path: string, text?: string | RegExp): Promise<void> {
    await shell(); // before it stands, nobody listens
    const target = JSON.stringify(path);
    await page.evaluate(`history.pushState({}, '', ${target}); dispatchEvent(new PopStateEvent('popstate'))`);
    await stands(text);
  }

  /**
   * Repeats `steps` until they show this. An answer that comes late draws a part of the page again, and with it goes a menu
   * or a dialog that was just opened.
   */
  async function untilShown(shown: Locator, steps: () => Promise<void>): Promise<void> {
    const attempt = async (): Promise<void> => {
      if (await shown.first().isVisible()) return;
      if ((await dialog().count()) === 0) await steps();
      await shown.first().waitFor();
    };
    page.setDefaultTimeout(DIALOG_MS);
    try {
      await eventually(attempt, { withinMs: PATIENCE_MS });
    } finally {
      page.setDefaultTimeout(PATIENCE_MS);
    }
  }

  const openDialog = (button: Locator, text: string): Promise<void> =>
    untilShown(dialog().getByText(text), () => button.click());

  /**
   * Opens a dialog, fills it in, and presses its button until the page has sent the request, and waits for the answer. An
   * answer to an earlier request may close the dialog at any of these steps, which are then repeated.
   */
  async function pressInDialog({ button, open, fill = async () => {}, sends }: DialogSteps): Promise<Response> {
    let sent: Request | undefined;
    const notice = (request: Request): void => {
      const isDry = request.url().includes('dry_run') || /"dry_run":\s*true/.test(request.postData() ?? '');
      if (!isDry && sends.test(`${request.method()} ${new URL(request.url()).pathname}`)) sent ??= request;
    };
    const attempt = async (): Promise<Request> => {
      if (sent) return sent;
      await untilShown(button, open);
      page.setDefaultTimeout(DIALOG_MS);
      await fill();
      await button.click();
      return eventually(() => sent ?? false, { withinMs: PATIENCE_MS });
    };
    page.on('request', notice);
    try {
      const request = await eventually(attempt, { withinMs: 2 * PATIENCE_MS });
      const response = await request.response();
      if (!response) throw new Error(`no answer to ${request.method()} ${request.url()}`);
      return response;
    } finally {
      page.off('request', notice);
      page.setDefaultTimeout(PATIENCE_MS);
    }
  }

  /** Goes on when a call with this in its URL has been answered, for this page or an earlier one, and with it all the others. */
  async function goAndAsk(path: string, call: string): Promise<void> {
    await go(path);
    await eventually(() => answered.some((one) => one.includes(call)), { withinMs: PATIENCE_MS });
    await settled();
  }

  /** Waits for everything the page asked for, and keeps a picture if pictures are wanted. */
  async function look(name: string): Promise<void> {
    await settled();
    await keepPicture(page, name);
  }

  const keepFailure = (name: string): Promise<void> => keepPicture(page, `failed ${name.slice(0, 60)}`, 'a failure');

  return {
    page,
    problems,
    signIn,
    signOut,
    visit,
    go,
    goAndAsk,
    settled,
    look,
    keepFailure,
    enter,
    expectingStatuses,
    dialog,
    openDialog,
    pressInDialog,
    untilShown,
    menu: (): Locator => page.locator('[role=menu][data-state=open]').last(),
    expectNoProblems(): void {
      deepEqual(problems.splice(0), []);
    },
    close: () => context.close(),
  };
}

const described = (response: Response): string =>
  `${response.status()} ${response.request().method()} ${response.url()}`;

async function fillTenant(page: Page, tenant: string): Promise<void> {
  const field = page.locator('input[name=tenant]');
  if (!(await field.isVisible())) await page.locator('summary').click();
  await field.fill(tenant);
}

/** Runs in the browser. Toasts vanish by themselves: they are noticed as they come. */
const REPORT_TOASTS = `
  const told = new WeakSet();
  new MutationObserver(() => {
    for (const toast of document.querySelectorAll('[data-scope="toast"][data-part="root"][data-type="error"]')) {
      if (told.has(toast)) continue;
      told.add(toast);
      console.error(${JSON.stringify(TOAST)} + toast.textContent);
    }
  }).observe(document, { childList: true, subtree: true });
`;

/**
 * Runs in the browser. What would turn and flow for as long as the page is open does so once: sixty pictures a second of a
 * page that nothing happens on are a fifth of a core. Whoever waits for the end of an animation hears of it as ever.
 */
const END_ANIMATIONS = `
  const once = new CSSStyleSheet();
  once.replaceSync('*, *::before, *::after { animation-iteration-count: 1 !important }');
  document.adoptedStyleSheets.push(once);
`;
