// Small helpers to build the page. Text only, never markup: nothing that a server or a file says is run.
/** @import { ElementProperties } from '../browser.d.ts' */

/** Outlines on a grid of 24, drawn with strokes. */
const ICONS = {
  home: 'M3 10.5 12 3l9 7.5M5 9v11h5v-6h4v6h5V9',
  dags: 'M4 6.5a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M15 12a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M4 17.5a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M9 7l6.3 4M9 17l6.3-4',
  code: 'm8 7-5 5 5 5m8-10 5 5-5 5M13.5 4l-3 16',
  new: 'M14 3H6v18h12V7zM14 3v4h4M12 11v6M9 14h6',
  reload: 'M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6',
  save: 'M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6',
  run: 'M7 4v16l13-8z',
  stop: 'M6 6h12v12H6z',
  skipped: 'M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18M8 12h8',
  folder: 'M3 6h6l2 2h10v11H3z',
  file: 'M14 3H6v18h12V7zM14 3v4h4',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  chevron: 'm9 6 6 6-6 6',
  close: 'm6 6 12 12M18 6 6 18',
  rename: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  delete: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6',
  error: 'M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18M12 7.5v5.5M12 16.2v.3',
  warning: 'M12 4 2.5 20h19zM12 10v4.5M12 17.2v.3',
  success: 'M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18m-4 9.5 3 3 5-6',
  running: 'M12 3a9 9 0 1 0 9 9',
};

/** @typedef {keyof typeof ICONS} IconName */

/**
 * @param {string} name
 * @returns {name is IconName}
 */
const isIcon = (name) => Object.hasOwn(ICONS, name);

const SVG = 'http://www.w3.org/2000/svg';

/** @param {IconName} name */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.classList.add('icon', `icon-${name}`);
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

/**
 * `element('a', { className: 'x', href: '…', onclick: f, dataset: { k: 'v' } }, 'text', node)`; names with a dash are attributes.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {ElementProperties<HTMLElementTagNameMap[Tag]>} properties
 * @param {(Node | string | undefined)[]} children
 */
export function element(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name === 'dataset') Object.assign(node.dataset, value);
    else if (name.includes('-') || name === 'role') node.setAttribute(name, String(value));
    else Object.assign(node, { [name]: value });
  }
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

/**
 * An element that the page is written with.
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {new () => Kind} kind
 */
export function byId(id, kind) {
  const node = document.getElementById(id);
  if (!(node instanceof kind)) throw new Error(`the page has no ${kind.name} "${id}"`);
  return node;
}

/** Puts the icons where the page names them. */
export function drawIcons() {
  for (const node of document.querySelectorAll('[data-icon]')) {
    const name = node.getAttribute('data-icon') ?? '';
    if (isIcon(name)) node.prepend(icon(name));
  }
}
