// Parts of which the pages inside the Airflow UI are made. Text only, never markup.
import { element } from '../editor/dom.js';

/**
 * @param {string} title
 * @param {(Node | string | undefined)[]} children
 */
export const section = (title, ...children) =>
  element('section', { 'aria-label': title }, element('h2', { textContent: title }), ...children);

/** @param {string} text */
export const quiet = (text) => element('p', { className: 'quiet', textContent: text });

/** A state, in the colour that the UI uses for it. @param {string} state */
export const chip = (state) =>
  element('span', { className: `chip chip-${state.replaceAll('_', '-')}`, textContent: state.replaceAll('_', ' ') });

/**
 * A table that scrolls sideways in itself, so that the page does not.
 * @param {string} label
 * @param {readonly string[]} headers
 * @param {readonly (readonly (Node | string | undefined)[])[]} rows
 */
export function table(label, headers, rows) {
  const head = element('tr', {}, ...headers.map((text) => element('th', { scope: 'col', textContent: text })));
  const body = rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, cell ?? ''))));
  return element(
    'div',
    { className: 'table', role: 'region', tabIndex: 0, 'aria-label': label, dataset: { key: `table ${label}` } },
    element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)),
  );
}

/** @param {(readonly [string, string, string?])[]} figures name, value, and what it means */
export const tiles = (...figures) =>
  element(
    'dl',
    { className: 'tiles' },
    ...figures.map(([name, value, meaning]) =>
      element('div', { title: meaning }, element('dt', { textContent: name }), element('dd', { textContent: value })),
    ),
  );

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1_000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/**
 * A moment, as the time since or until it. The title has the moment itself.
 * @param {string | null} moment
 * @param {string} [none]
 */
export function time(moment, none = '') {
  if (moment === null) return element('span', { textContent: none });
  const seconds = (Date.now() - Date.parse(moment)) / 1_000;
  const text = seconds >= 0 ? `${duration(Math.max(1, seconds))} ago` : `in ${duration(-seconds)}`;
  return element('time', { dateTime: moment, title: new Date(moment).toLocaleString(), textContent: text });
}

/** @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** @param {readonly string[]} lines @param {string} label */
export const lines = (lines, label) =>
  element('pre', { textContent: lines.join('\n'), tabIndex: 0, 'aria-label': label, dataset: { key: `pre ${label}` } });
