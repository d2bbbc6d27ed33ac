// The folder that is edited, as the control plane tells of it: read at the start, after changes, and on coming back.
import { api } from './api.js';
import { byId } from './dom.js';
/** @import { Buffers } from './buffers.js' */
/** @import { Tree } from './tree.js' */
/** @import { State, View } from './view.js' */

const SECOND_LOOK_MS = 2_000;
const CATCH_UP_EVERY_MS = 2_000;

const name = byId('workspace', HTMLElement);
const note = byId('tree-note', HTMLElement);

/** @typedef {ReturnType<typeof createWorkspace>} Workspace */

/** @param {{ state: State, buffers: Buffers, tree: Tree, view: View }} input */
export function createWorkspace({ state, buffers, tree, view }) {
  async function read(asked = api.workspace()) {
    const workspace = await asked;
    name.textContent = workspace.name;
    state.compiles = workspace.units !== null;
    state.units = workspace.units ?? [];
    state.runsTests = workspace.runs_tests;
    state.paths = workspace.entries.flatMap(({ path, kind }) => (kind === 'file' ? [path] : []));
    tree.show(workspace.entries);
    note.hidden = workspace.is_complete && workspace.entries.length > 0;
    note.textContent = workspace.is_complete ? 'Nothing here yet.' : 'There is more than is shown here.';
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let secondLook;

  /** What was saved may concern other files, which are compiled after it: a second look, when that is most likely done. */
  function lookAgain() {
    clearTimeout(secondLook);
    secondLook = setTimeout(() => {
      if (state.isBusy || document.querySelector('dialog[open]')) return;
      void view.guarded(read)().then(view.drawAll);
    }, SECOND_LOOK_MS);
  }

  /** What happened while nobody looked: files that came and went, and what other programs have saved. */
  const catchUp = view.guarded(async () => {
    await read();
    for (const buffer of buffers.all()) {
      const found = await buffers.refresh(buffer);
      if (found === 'changed')
        view.say(`${buffer.path} has changed on disk, and here too: saving will ask which to keep`, 'warning');
      if (found === 'gone') view.say(`${buffer.path} is no longer on disk: saving will make it again`, 'warning');
    }
    view.drawAll();
    lookAgain();
  });

  let lastCatchUp = Date.now();
  function comeBack() {
    if (document.visibilityState === 'hidden' || state.isBusy || Date.now() - lastCatchUp < CATCH_UP_EVERY_MS) return;
    lastCatchUp = Date.now();
    void catchUp();
  }

  return { read, lookAgain, catchUp, comeBack };
}
