// Questions to the person at the editor, in the browser's own dialogs: focus, Escape and screen readers come with them.
import { element } from './dom.js';
import { TEMPLATES } from './templates.js';

/** Resolves with the value of the button that was pressed, or null; `fields` are read by the caller before it is gone. */
function ask({ title, text, fields = [], buttons, check }) {
  const problem = element('p', { className: 'problem', role: 'alert', hidden: true });
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
      ...buttons.map(({ label, value, kind = '' }) =>
        element('button', { type: 'submit', className: `button ${kind}`, value }, label),
      ),
    ),
  );
  const dialog = element('dialog', {}, form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    let answer = null;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const { value } = event.submitter ?? { value: buttons.at(-1).value };
      // Whatever the answer leads to is tried while the dialog is open: a mistake can be mended where it was made.
      try {
        for (const button of form.querySelectorAll('button')) button.disabled = true;
        await check?.(value);
        answer = value;
        dialog.close();
      } catch (error) {
        problem.textContent = error.message;
        problem.hidden = false;
      } finally {
        for (const button of form.querySelectorAll('button')) button.disabled = false;
      }
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(answer);
    });
    dialog.showModal();
  });
}

function pathField(label, value) {
  const input = element('input', { name: 'path', value, required: true, spellcheck: false, autocomplete: 'off' });
  // The name without its folder and ending is what one wants to type over.
  const start = value.lastIndexOf('/') + 1;
  const end = value.includes('.', start) ? value.lastIndexOf('.') : value.length;
  queueMicrotask(() => input.setSelectionRange(start, end));
  return { input, node: element('label', {}, label, input) };
}

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
    check: () => create(input.value.trim(), choice.value),
  });
}

export function askName({ path, rename }) {
  const { input, node } = pathField('New path', path);
  return ask({
    title: `Rename ${path}`,
    fields: [node],
    buttons: [{ label: 'Rename', value: 'rename', kind: 'primary' }],
    check: async () => {
      if (input.value.trim() !== path) await rename(input.value.trim());
    },
  });
}

export const askDelete = ({ path, isFolder, remove }) =>
  ask({
    title: `Delete ${path}?`,
    text: isFolder
      ? 'Only a folder that is empty can be deleted here.'
      : 'The file is deleted from the disk of the control plane. Its DAGs are no longer scheduled; their history stays.',
    buttons: [{ label: 'Delete', value: 'delete', kind: 'danger' }],
    check: remove,
  });

export const askUnsaved = (path) =>
  ask({
    title: `Close ${path}?`,
    text: 'It has changes that are not saved.',
    buttons: [
      { label: 'Close without saving', value: 'discard', kind: 'danger' },
      { label: 'Save and close', value: 'save', kind: 'primary' },
    ],
  });

export const askConflict = (path) =>
  ask({
    title: `${path} has changed on disk`,
    text: 'Somebody else, or another tab, has saved it since it was opened here.',
    buttons: [
      { label: 'Load theirs', value: 'load', kind: 'danger' },
      { label: 'Overwrite with mine', value: 'overwrite', kind: 'danger' },
    ],
  });
