// The files of the workspace as a tree: mouse, keyboard and screen readers.
import { element, icon } from './dom.js';

const STORED = 'svc-editor-folders';

const parentOf = (path) => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '');

export function createTree({ node, onOpen, onRename, onDelete }) {
  let entries = [];
  let marks = new Map();
  let current;
  const openFolders = new Set(JSON.parse(localStorage.getItem(STORED) ?? '[]'));

  const isShown = ({ path }) => {
    for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder))
      if (!openFolders.has(folder)) return false;
    return true;
  };

  function toggle(path, isOpen = !openFolders.has(path)) {
    if (isOpen) openFolders.add(path);
    else openFolders.delete(path);
    localStorage.setItem(STORED, JSON.stringify([...openFolders].slice(-200)));
    draw();
  }

  const activate = ({ path, kind }) => {
    if (kind === 'folder') toggle(path);
    else if (kind === 'file') onOpen(path);
  };

  /** The worst thing in the file, or in anything below the folder while it is closed. */
  function markOf({ path, kind }) {
    if (kind === 'file') return marks.get(path);
    if (openFolders.has(path)) return undefined;
    const below = [...marks].filter(([file]) => file.startsWith(`${path}/`)).map(([, mark]) => mark);
    return below.includes('error') ? 'error' : below[0];
  }

  function row(entry) {
    const { path, kind } = entry;
    const mark = markOf(entry);
    const isOpen = openFolders.has(path);
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
    const focused = node.contains(document.activeElement) ? document.activeElement.dataset.path : undefined;
    node.replaceChildren(...entries.filter(isShown).map(row));
    const rows = [...node.children];
    if (rows.length > 0 && !rows.some((each) => each.tabIndex === 0)) rows[0].tabIndex = 0;
    if (focused !== undefined) rows.find((each) => each.dataset.path === focused)?.focus();
  }

  const focusRow = (target) => {
    for (const each of node.children) each.tabIndex = each === target ? 0 : -1;
    target?.focus();
  };

  node.addEventListener('keydown', (event) => {
    const here = event.target.closest('.row');
    const entry = entries.find(({ path }) => path === here?.dataset.path);
    if (!entry || event.ctrlKey || event.metaKey || event.altKey) return;
    const isFolder = entry.kind === 'folder';
    const parent = [...node.children].find((each) => each.dataset.path === parentOf(entry.path));
    const moves = {
      ArrowDown: () => focusRow(here.nextElementSibling ?? here),
      ArrowUp: () => focusRow(here.previousElementSibling ?? here),
      Home: () => focusRow(node.firstElementChild),
      End: () => focusRow(node.lastElementChild),
      ArrowRight: () =>
        isFolder && (openFolders.has(entry.path) ? focusRow(here.nextElementSibling ?? here) : toggle(entry.path)),
      ArrowLeft: () =>
        isFolder && openFolders.has(entry.path) ? toggle(entry.path, false) : parent && focusRow(parent),
      Enter: () => activate(entry),
      ' ': () => activate(entry),
      F2: () => entry.kind !== 'link' && onRename(entry),
      Delete: () => entry.kind !== 'link' && onDelete(entry),
    };
    if (!moves[event.key] || event.target !== here) return;
    event.preventDefault();
    moves[event.key]();
  });

  return {
    /** Folders that are met for the first time are closed, unless there are few. */
    show(next) {
      entries = next;
      draw();
    },
    mark(next) {
      marks = next;
      draw();
    },
    /** Opens the folders on the way to it. */
    select(path) {
      current = path;
      if (path !== undefined) {
        for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) openFolders.add(folder);
      }
      draw();
      node.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
    },
    has: (path) => entries.some((entry) => entry.path === path),
    folders: () => entries.filter(({ kind }) => kind === 'folder').map(({ path }) => path),
  };
}
