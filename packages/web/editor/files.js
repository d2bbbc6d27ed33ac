// What can be done with a file: opened, closed, saved and compiled, made, renamed, deleted.
import { Failure, api } from './api.js';
import { askConflict, askDelete, askName, askNewFile, askUnsaved } from './dialogs.js';
import { unitsOf } from './problems.js';
import { contentFor } from './templates.js';
/** @import { editor } from 'monaco-editor' */
/** @import { Entry, Problem } from '../browser.d.ts' */
/** @import { Buffer, Buffers } from './buffers.js' */
/** @import { Tree } from './tree.js' */
/** @import { State, View } from './view.js' */
/** @import { Workspace } from './workspace.js' */

/**
 * The address names the file that is shown: a reload comes back to it.
 * @param {string | undefined} path
 */
function showInAddress(path) {
  const url = new URL(location.href);
  if (path === undefined) url.searchParams.delete('path');
  else url.searchParams.set('path', path);
  history.replaceState(null, '', url);
}

/**
 * @param {{
 *   state: State,
 *   editor: editor.IStandaloneCodeEditor,
 *   buffers: Buffers,
 *   tree: Tree,
 *   view: View,
 *   workspace: Workspace,
 * }} input
 */
export function createFiles({ state, editor, buffers, tree, view, workspace }) {
  const { say, guarded } = view;

  /** @param {string} path */
  async function show(path) {
    const buffer = await buffers.open(path);
    const before = buffers.get(state.current);
    if (before && before !== buffer) before.viewState = editor.saveViewState();
    state.current = path;
    if (editor.getModel() !== buffer.model) {
      editor.setModel(buffer.model);
      if (buffer.viewState) editor.restoreViewState(buffer.viewState);
    }
    showInAddress(path);
    say('');
    view.drawAll();
    editor.focus();
  }

  const open = guarded(show);

  const goTo = guarded(async (/** @type {Problem} */ { path, line, column }) => {
    if (!tree.has(path)) return;
    await show(path);
    if (line === null) return;
    editor.setPosition({ lineNumber: line, column: column ?? 1 });
    editor.revealLineInCenterIfOutsideViewport(line);
  });

  const close = guarded(async (/** @type {string} */ path) => {
    const buffer = buffers.get(path);
    if (!buffer) return;
    if (buffers.isDirty(buffer)) {
      const answer = await askUnsaved(path);
      if (answer === null) return;
      if (answer === 'save' && (await saveBuffer(buffer)) === 'kept') return;
    }
    const paths = buffers.all().map((each) => each.path);
    buffers.close(path);
    if (path === state.current) {
      const at = paths.indexOf(path);
      const next = paths[at + 1] ?? paths[at - 1];
      state.current = undefined;
      if (next !== undefined) return show(next);
      editor.setModel(null);
      showInAddress(undefined);
    }
    view.drawAll();
  });

  /**
   * `kept` when it is not on disk, because the user chose so.
   * @param {Buffer} buffer
   * @returns {Promise<'saved' | 'unchanged' | 'kept'>}
   */
  async function saveBuffer(buffer) {
    try {
      return (await buffers.save(buffer)) ? 'saved' : 'unchanged';
    } catch (error) {
      if (!(error instanceof Failure) || ![404, 412].includes(error.status)) throw error;
      const answer = await askConflict(buffer.path);
      if (answer === 'overwrite') {
        await buffers.overwrite(buffer);
        return 'saved';
      }
      if (answer === 'load') await buffers.load(buffer);
      return 'kept';
    }
  }

  /** @param {string} path */
  async function compile(path) {
    if (!state.compiles) await workspace.read(); // it may by now
    if (!state.compiles)
      return say('Saved. Nothing compiles it here: `svc deploy` does, or lite with a Python', 'warning');
    say('Compiling…');
    const { units } = await api.compile(path);
    state.units = units;
    const problems = unitsOf(units, path).flatMap((unit) => unit.problems);
    const errors = problems.filter(({ severity }) => severity === 'error').length;
    if (errors > 0) say(`Saved, but it does not compile: ${errors} ${errors === 1 ? 'error' : 'errors'}`, 'error');
    else say(view.dagsOfCurrent().length > 0 ? 'Saved and live' : 'Saved', 'success');
  }

  const save = guarded(async () => {
    const buffer = buffers.get(state.current);
    if (!buffer || state.isBusy) return;
    state.isBusy = true;
    try {
      say('Saving…');
      const outcome = await saveBuffer(buffer);
      if (outcome === 'kept') return say('');
      if (outcome === 'unchanged') return say('No changes to save');
      view.drawFiles();
      await compile(buffer.path);
    } finally {
      state.isBusy = false;
      view.drawAll();
      workspace.lookAgain();
    }
  });

  /**
   * With a number behind it when the name is taken.
   * @param {(suffix: string) => string} make
   */
  const freePath = (make) =>
    ['', '_2', '_3', '_4', '_5', '_6', '_7', '_8', '_9'].map(make).find((path) => !tree.has(path));

  function suggestedPath() {
    const { current, units } = state;
    const folder = current?.includes('/') ? current.slice(0, current.lastIndexOf('/')) : undefined;
    // Beside a project there is room for another one; in a folder of plain DAG files for another file.
    const isProject = folder !== undefined && units.some((unit) => unit.folder === folder);
    const path =
      folder !== undefined && !isProject
        ? freePath((suffix) => `${folder}/my_dag${suffix}.py`)
        : freePath((suffix) => `my_dag${suffix}/dag.py`);
    return path ?? 'my_dag/dag.py';
  }

  const newFile = guarded(async () => {
    const created = await askNewFile({
      suggestion: suggestedPath(),
      create: (path, template) => api.create(path, contentFor(path, template)),
    });
    if (created === null) return;
    await workspace.read();
    await show(created);
    await compile(created);
    view.drawAll();
    workspace.lookAgain();
  });

  const rename = guarded(async (/** @type {Entry} */ { path }) => {
    const renamed = await askName({ path, rename: (to) => api.rename(path, to) });
    if (renamed === null) return;
    const { current } = state;
    const isConcerned = current !== undefined && (current === path || current.startsWith(`${path}/`));
    const next = isConcerned ? renamed + current.slice(path.length) : current;
    buffers.rename(path, renamed);
    if (isConcerned) state.current = undefined;
    await workspace.read();
    if (next !== undefined) await show(next);
    if (state.compiles) state.units = (await api.compile(next ?? renamed)).units;
    view.drawAll();
    workspace.lookAgain();
  });

  const remove = guarded(async (/** @type {Entry} */ { path, kind }) => {
    const isFolder = kind === 'folder';
    const etag = isFolder ? undefined : (buffers.get(path)?.etag ?? (await api.read(path)).etag);
    const isGone = await askDelete({ path, isFolder, remove: () => api.remove(path, etag) });
    if (isGone === null) return;
    buffers.close(path);
    if (state.current === path) {
      state.current = undefined;
      editor.setModel(null);
    }
    const next = state.current ?? buffers.all().at(-1)?.path;
    await workspace.read();
    state.units = state.units.filter((unit) => unit.source !== path);
    if (next !== undefined) await show(next);
    view.drawAll();
    workspace.lookAgain();
  });

  return { open, goTo, close, save, newFile, rename, remove };
}
