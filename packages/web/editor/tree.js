// The files of the workspace as a tree: mouse, keyboard and screen readers.
import { element, icon } from './dom.js';
/** @import { IconName } from './dom.js' */
/** @import { Entry, Problem } from '../browser.d.ts' */

/** @typedef {ReturnType<typeof createTree>} Tree */

const STORED = 'svc-editor-folders';

/** @param {string} path */
const parentOf = (path) => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '');

/**
 * @param {{
 *   node: HTMLElement,
 *   onOpen: (path: string) => void,
 *   onRename: (entry: Entry) => void,
 *   onDelete: (entry: Entry) => void,
 * }} input
 */
export function createTree({ node, onOpen, onRename, onDelete }) {
  /** @type {Entry[]} */
  let entries = [];
  /** @type {Map<string, Problem['severity']>} */
  let marks = new Map();
  /** @type {string | undefined} */
  let current;
  /** @type {Set<string>} */
  const openFolders = new Set(JSON.parse(localStorage.getItem(STORED) ?? '[]'));
  /** What is shown, from above. @type {{ entry: Entry, line: HTMLElement }[]} */
  let rows = [];

  /** @param {Entry} entry */
  const isShown = ({ path }) => {
    for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder))
      if (!openFolders.has(folder)) return false;
    return true;
  };

  /**
   * @param {string} path
   * @param {boolean} isOpen
   */
  function toggle(path, isOpen = !openFolders.has(path)) {
    if (isOpen) openFolders.add(path);
    else openFolders.delete(path);
    localStorage.setItem(STORED, JSON.stringify([...openFolders].slice(-200)));
    draw();
  }

  /** @param {Entry} entry */
  const activate = ({ path, kind }) => {
    if (kind === 'folder') toggle(path);
    else if (kind === 'file') onOpen(path);
  };

  /**
   * The worst thing in the file, or in anything below the folder while it is closed.
   * @param {Entry} entry
   */
  function markOf({ path, kind }) {
    if (kind === 'file') return marks.get(path);
    if (openFolders.has(path)) return undefined;
    const below = [...marks].filter(([file]) => file.startsWith(`${path}/`)).map(([, mark]) => mark);
    return below.includes('error') ? 'error' : below[0];
  }

  /** @param {Entry} entry */
  function row(entry) {
    const { path, kind } = entry;
    const mark = markOf(entry);
    const isOpen = openFolders.has(path);
    /** @type {(name: IconName, label: string, act: (entry: Entry) => void) => HTMLElement} */
    const tool = (name, label, act) =>
      element(
        'button',
        {
          type: 'button',
          className: 'icon-button small',
          title: label,
          'aria-label': `${label} ${path}`,
          tabIndex: -1,
          onclick: (event) => {
            event.stopPropagation();
            act(entry);
          },
        },
        icon(name),
      );
    return element(
      'div',
      {
        className: `row ${kind}`,
        role: 'treeitem',
        tabIndex: path === current ? 0 : -1,
        title: kind === 'link' ? `${path} is a link: the editor follows none` : path,
        'aria-level': String(path.split('/').length),
        'aria-selected': String(path === current),
        'aria-expanded': kind === 'folder' ? String(isOpen) : undefined,
        dataset: { path },
        onclick: () => activate(entry),
        style: `--depth: ${path.split('/').length - 1}`,
      },
      kind === 'folder' ? icon('chevron') : element('span', { className: 'icon' }),
      icon(kind),
      element('span', { className: 'name' }, path.slice(path.lastIndexOf('/') + 1)),
      mark
        ? element('span', { className: `mark ${mark}`, title: `has ${mark === 'error' ? 'an error' : 'a warning'}` })
        : undefined,
      kind === 'link'
        ? undefined
        : element(
            'span',
            { className: 'tools' },
            tool('rename', 'Rename', onRename),
            tool('delete', 'Delete', onDelete),
          ),
    );
  }

  function draw() {
    const focused = rows.find(({ line }) => line === document.activeElement)?.entry.path;
    rows = entries.filter(isShown).map((entry) => ({ entry, line: row(entry) }));
    node.replaceChildren(...rows.map(({ line }) => line));
    if (rows[0] && !rows.some(({ line }) => line.tabIndex === 0)) rows[0].line.tabIndex = 0;
    if (focused !== undefined) rows.find(({ entry }) => entry.path === focused)?.line.focus();
  }

  /** @param {(typeof rows)[number] | undefined} target */
  const focusRow = (target) => {
    for (const { line } of rows) line.tabIndex = line === target?.line ? 0 : -1;
    target?.line.focus();
  };

  node.addEventListener('keydown', (event) => {
    const at = rows.findIndex(({ line }) => line === event.target);
    const here = rows[at];
    if (!here || event.ctrlKey || event.metaKey || event.altKey) return;
    const { entry } = here;
    const isOpenFolder = entry.kind === 'folder' && openFolders.has(entry.path);
    const parent = rows.find((each) => each.entry.path === parentOf(entry.path));
    /** @type {Readonly<Record<string, () => void>>} */
    const moves = {
      ArrowDown: () => focusRow(rows[at + 1] ?? here),
      ArrowUp: () => focusRow(rows[at - 1] ?? here),
      Home: () => focusRow(rows[0]),
      End: () => focusRow(rows.at(-1)),
      ArrowRight: () => {
        if (isOpenFolder) focusRow(rows[at + 1] ?? here);
        else if (entry.kind === 'folder') toggle(entry.path);
      },
      ArrowLeft: () => {
        if (isOpenFolder) toggle(entry.path, false);
        else if (parent) focusRow(parent);
      },
      Enter: () => activate(entry),
      ' ': () => activate(entry),
      F2: () => entry.kind !== 'link' && onRename(entry),
      Delete: () => entry.kind !== 'link' && onDelete(entry),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  });

  return {
    /** @param {Entry[]} next */
    show(next) {
      entries = next;
      draw();
    },
    /** @param {Map<string, Problem['severity']>} next the worst thing in each file that has any */
    mark(next) {
      marks = next;
      draw();
    },
    /**
     * Opens the folders on the way to it.
     * @param {string | undefined} path
     */
    select(path) {
      current = path;
      if (path !== undefined) {
        for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) openFolders.add(folder);
      }
      draw();
      node.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
    },
    /** @param {string} path */
    has: (path) => entries.some((entry) => entry.path === path),
  };
}
