// What all pages inside the Airflow UI share: calls of the API, links that the UI around the frame follows, and showing
// answers that are read again and again without losing the place of the reader.
import { byId, element } from '../editor/dom.js';

const base = document.baseURI;
const content = byId('content', HTMLElement);
const status = byId('status', HTMLElement);

/**
 * @template Answer
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<Answer>}
 */
export async function call(method, path, body) {
  /** @type {Record<string, string>} */
  const headers = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(new URL(path, base), { method, headers, ...content });
  if (response.ok) return response.json();
  /** @type {{ detail?: string }} */
  const problem = await response.json().catch(() => ({}));
  if (response.status === 401) throw new Error('Your session has ended. Reload the page to sign in.');
  throw new Error(problem.detail ?? `The control plane answered with status ${response.status}.`);
}

/** @param {unknown} error */
const textOf = (error) => (error instanceof Error ? error.message : String(error));

/** Announces a text, which a screen reader reads out. @param {string} text */
export function announce(text) {
  status.textContent = text;
}

/**
 * A button. It cannot be pressed again until its action has ended, and a failure is announced.
 * @param {string} text
 * @param {() => Promise<void> | void} action
 * @param {{ label?: string, key?: string, isMain?: boolean }} [more]
 */
export function actionButton(text, action, { label, key, isMain = false } = {}) {
  const button = element('button', {
    type: 'button',
    textContent: text,
    className: isMain ? 'main' : '',
    'aria-label': label,
    ...(key !== undefined && { dataset: { key } }),
  });
  button.addEventListener('click', async () => {
    // A disabled button would lose the focus.
    if (button.ariaDisabled === 'true') return;
    button.ariaDisabled = 'true';
    try {
      await action();
    } catch (error) {
      announce(textOf(error));
    } finally {
      button.ariaDisabled = 'false';
    }
  });
  return button;
}

/** A parameter of the address. A name in braces is one that the UI has not filled in. @param {string} name */
export function parameter(name) {
  const value = new URLSearchParams(location.search).get(name);
  return value === null || value === '' || /^\{[A-Z_]+\}$/.test(value) ? undefined : value;
}

/**
 * A link to a page of the UI, by its path below the base.
 * @param {string} path
 * @param {string} text
 * @param {string} [key]
 */
export function uiLink(path, text, key = path) {
  const href = new URL(path, base).href;
  return element('a', { href, textContent: text, dataset: { key }, onclick: (event) => follow(event, href) });
}

/** The frame may not leave the page, so the UI around it does. @type {(event: MouseEvent, href: string) => void} */
function follow(event, href) {
  if (parent === window || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  parent.history.pushState({}, '', href);
  parent.dispatchEvent(new PopStateEvent('popstate'));
}

/** @param {string} dagId */
export const dagPath = (dagId) => `dags/${encodeURIComponent(dagId)}`;
/** @type {(dagId: string, runId: string) => string} */
export const runPath = (dagId, runId) => `${dagPath(dagId)}/runs/${encodeURIComponent(runId)}`;
/** @type {(dagId: string, runId: string, taskId: string, mapIndex: number) => string} */
export const taskPath = (dagId, runId, taskId, mapIndex) =>
  `${runPath(dagId, runId)}/tasks/${encodeURIComponent(taskId)}${mapIndex < 0 ? '' : `/mapped/${mapIndex}`}`;

/**
 * Replaces what is shown. The focus and open details stay where they are, by `data-key`.
 * @param {readonly (Node | undefined)[]} parts
 */
function show(parts) {
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['key'] : undefined;
  const open = new Set([...content.querySelectorAll('details[open]')].map(keyOf));
  content.replaceChildren(...parts.filter((part) => part !== undefined));
  for (const details of content.querySelectorAll('details')) if (open.has(keyOf(details))) details.open = true;
  if (focused === undefined) return;
  const again = [...content.querySelectorAll('[data-key]')].find((node) => keyOf(node) === focused);
  if (again instanceof HTMLElement && again !== document.activeElement) again.focus({ preventScroll: true });
}

/** @param {Element} node */
const keyOf = (node) => (node instanceof HTMLElement ? node.dataset['key'] : undefined);

/**
 * Shows what `look` returns, and looks again while the page is visible.
 * @param {() => Promise<{ parts: readonly (Node | undefined)[], pauseMs: number }>} look
 * @param {() => boolean} [isInUse] true while the page must not change under the reader
 * @returns {() => Promise<void>} looks now
 */
export function keepShowing(look, isInUse = () => false) {
  let timer = 0;
  /** Only the newest look may show its answer. */
  let latest = 0;
  let hasFailed = false;
  async function now() {
    clearTimeout(timer);
    latest += 1;
    const mine = latest;
    let pauseMs = 10_000;
    try {
      const answer = await look();
      if (mine !== latest) return;
      ({ pauseMs } = answer);
      if (!isInUse()) show(answer.parts);
      if (hasFailed) announce('');
      hasFailed = false;
    } catch (error) {
      if (mine !== latest) return;
      hasFailed = true;
      announce(textOf(error));
    }
    content.setAttribute('aria-busy', 'false');
    lookLater(pauseMs);
  }
  /** @param {number} pauseMs */
  function lookLater(pauseMs) {
    timer = window.setTimeout(() => {
      if (document.hidden) return undefined;
      return isInUse() || document.activeElement instanceof HTMLSelectElement ? lookLater(pauseMs) : now();
    }, pauseMs);
  }
  document.addEventListener('visibilitychange', () => (document.hidden || isInUse() ? undefined : now()));
  now().catch(() => undefined);
  return now;
}
