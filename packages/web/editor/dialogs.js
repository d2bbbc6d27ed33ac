// Questions to the person at the editor, in the browser's own dialogs: focus, Escape and screen readers come with them.
import { messageOf } from './api.js';
import { element } from './dom.js';
import { TEMPLATES } from './templates.js';

/**
 * Resolves with what the button that was pressed has led to, or null.
 * @template {string} Answer
 * @template Result
 * @param {{
 *   title: string,
 *   text?: string,
 *   fields?: HTMLElement[],
 *   buttons: { label: string, value: Answer, kind: 'primary' | 'danger' }[],
 *   act: (answer: Answer) => Promise<Result>,
 * }} input
 * @returns {Promise<Result | null>}
 */
function ask({ title, text, fields = [], buttons, act }) {
  const problem = element('p', { className: 'problem', role: 'alert', hidden: true });
  const dialog = element('dialog', {});
  const form = element(
    'form',
    { method: 'dialog' },
    element('h2', {}, title),
    ...(text ? [element('p', {}, text)] : []),
    ...fields,
    problem,
    element(
      'div',
      { className: 'buttons' },
      element(
        'button',
        { type: 'button', className: 'button', value: 'cancel', onclick: () => dialog.close() },
        'Cancel',
      ),
      ...buttons.map(({ label, value, kind }) =>
        element('button', { type: 'submit', className: `button ${kind}`, value }, label),
      ),
    ),
  );
  dialog.append(form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    /** @type {Result | null} */
    let result = null;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const pressed = event.submitter instanceof HTMLButtonElement ? event.submitter.value : undefined;
      const chosen = buttons.find(({ value }) => value === pressed) ?? buttons.at(-1);
      if (!chosen) return;
      // Whatever the answer leads to is tried while the dialog is open: a mistake can be mended where it was made.
      try {
        for (const button of form.querySelectorAll('button')) button.disabled = true;
        result = await act(chosen.value);
        dialog.close();
      } catch (error) {
        problem.textContent = messageOf(error);
        problem.hidden = false;
      } finally {
        for (const button of form.querySelectorAll('button')) button.disabled = false;
      }
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(result);
    });
    dialog.showModal();
  });
}

/**
 * @param {string} label
 * @param {string} value
 */
function pathField(label, value) {
  const input = element('input', { name: 'path', value, required: true, spellcheck: false, autocomplete: 'off' });
  // The name without its folder and ending is what one wants to type over.
  const start = value.lastIndexOf('/') + 1;
  const end = value.includes('.', start) ? value.lastIndexOf('.') : value.length;
  queueMicrotask(() => input.setSelectionRange(start, end));
  return { input, node: element('label', {}, label, input) };
}

/**
 * Resolves with the path of the file that was made.
 * @param {{ suggestion: string, create: (path: string, template: string) => Promise<unknown> }} input
 */
export function askNewFile({ suggestion, create }) {
  const { input, node } = pathField('Path in the workspace', suggestion);
  const start = suggestion.lastIndexOf('/dag.py');
  if (start > 0) {
    const from = suggestion.lastIndexOf('/', start - 1) + 1;
    queueMicrotask(() => input.setSelectionRange(from, start));
  }
  const choice = element(
    'select',
    { name: 'template' },
    ...TEMPLATES.map(({ id, name }) => element('option', { value: id }, name)),
  );
  const template = element('label', {}, 'Begin with', choice);
  const showTemplate = () => (template.hidden = !input.value.trim().endsWith('.py'));
  input.addEventListener('input', showTemplate);
  showTemplate();
  return ask({
    title: 'New file',
    text: 'Folders that are missing are made. A folder with a dag.py in it is a project of its own.',
    fields: [node, template],
    buttons: [{ label: 'Create', value: 'create', kind: 'primary' }],
    act: async () => {
      const path = input.value.trim();
      await create(path, choice.value);
      return path;
    },
  });
}

/**
 * Resolves with the new path; null when it is the old one.
 * @param {{ path: string, rename: (to: string) => Promise<void> }} input
 */
export function askName({ path, rename }) {
  const { input, node } = pathField('New path', path);
  return ask({
    title: `Rename ${path}`,
    fields: [node],
    buttons: [{ label: 'Rename', value: 'rename', kind: 'primary' }],
    act: async () => {
      const to = input.value.trim();
      if (to === path) return null;
      await rename(to);
      return to;
    },
  });
}

/**
 * Resolves with true when it is gone.
 * @param {{ path: string, isFolder: boolean, remove: () => Promise<void> }} input
 */
export const askDelete = ({ path, isFolder, remove }) =>
  ask({
    title: `Delete ${path}?`,
    text: isFolder
      ? 'Only a folder that is empty can be deleted here.'
      : 'The file is deleted from the disk of the control plane. Its DAGs are no longer scheduled; their history stays.',
    buttons: [{ label: 'Delete', value: 'delete', kind: 'danger' }],
    act: async () => {
      await remove();
      return true;
    },
  });

/**
 * Where nothing can go wrong before the caller has the answer.
 * @template {string} Answer
 * @param {Answer} answer
 */
const itself = async (answer) => answer;

/** @param {string} path */
export const askUnsaved = (path) =>
  ask({
    title: `Close ${path}?`,
    text: 'It has changes that are not saved.',
    buttons: [
      { label: 'Close without saving', value: 'discard', kind: 'danger' },
      { label: 'Save and close', value: 'save', kind: 'primary' },
    ],
    act: itself,
  });

/** @param {string} path */
export const askConflict = (path) =>
  ask({
    title: `${path} has changed on disk`,
    text: 'Somebody else, or another tab, has saved it since it was opened here.',
    buttons: [
      { label: 'Load theirs', value: 'load', kind: 'danger' },
      { label: 'Overwrite with mine', value: 'overwrite', kind: 'danger' },
    ],
    act: itself,
  });
