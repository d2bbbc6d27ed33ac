// The open files, as tabs: a dot for what is not saved, the middle button closes.
import { element, icon } from './dom.js';
/** @import { Buffer, Buffers } from './buffers.js' */

/**
 * @param {{
 *   buffer: Buffer, isDirty: boolean, isCurrent: boolean,
 *   onOpen: (path: string) => void, onClose: (path: string) => void,
 * }} input
 */
function tab({ buffer, isDirty, isCurrent, onOpen, onClose }) {
  const { path } = buffer;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const folder = path.slice(0, -name.length - 1);
  return element(
    'div',
    {
      className: `tab${isDirty ? ' dirty' : ''}`,
      role: 'tab',
      tabIndex: isCurrent ? 0 : -1,
      title: isDirty ? `${path} (not saved)` : path,
      'aria-selected': String(isCurrent),
      dataset: { path },
      onclick: () => onOpen(path),
      onauxclick: (event) => event.button === 1 && onClose(path),
      onkeydown: (event) => event.key === 'Enter' && onOpen(path),
    },
    element('span', { className: 'name' }, name),
    folder ? element('span', { className: 'folder' }, folder) : undefined,
    element(
      'button',
      {
        type: 'button',
        className: 'icon-button small close',
        'aria-label': `Close ${path}`,
        onclick: (event) => {
          event.stopPropagation();
          onClose(path);
        },
      },
      icon('close'),
    ),
  );
}

/**
 * @param {{
 *   node: HTMLElement, buffers: Buffers, current: string | undefined,
 *   onOpen: (path: string) => void, onClose: (path: string) => void,
 * }} input
 */
export function drawTabs({ node, buffers, current, onOpen, onClose }) {
  const tabs = buffers
    .all()
    .map((buffer) =>
      tab({ buffer, isDirty: buffers.isDirty(buffer), isCurrent: buffer.path === current, onOpen, onClose }),
    );
  node.replaceChildren(...tabs);
  node.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}
