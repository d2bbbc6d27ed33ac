// The editor: files on the left, text in the middle, and below it what the compiler and the scheduler say.
import { api, messageOf, onSessionEnd } from './api.js';
import { createBuffers } from './buffers.js';
import { byId, drawIcons } from './dom.js';
import { createFiles } from './files.js';
import { followTheme, loadMonaco } from './monaco.js';
import { createRuns } from './runs.js';
import { createTestView } from './test-view.js';
import { createTests } from './tests.js';
import { createTree } from './tree.js';
import { createView, lastTabs } from './view.js';
import { createWorkspace } from './workspace.js';
/** @import { State } from './view.js' */

drawIcons();

/** @type {(theme: string) => void} */
let applyTheme = () => {};
const refreshTheme = followTheme((theme) => applyTheme(theme));
/** Asked while the code editor loads: whoever is not signed in is sent to do so without waiting for it. */
const asked = api.workspace();
asked.catch(() => {}); // looked at below
const monaco = await loadMonaco().catch((/** @type {unknown} */ error) => {
  byId('status-state', HTMLElement).textContent = messageOf(error);
  throw error;
});
applyTheme = (theme) => monaco.editor.setTheme(theme);
refreshTheme();

const editor = monaco.editor.create(byId('editor', HTMLElement), {
  model: null,
  automaticLayout: true,
  fontSize: 13,
  minimap: { enabled: false },
  scrollBeyondLastLine: false,
  padding: { top: 10, bottom: 10 },
  renderLineHighlight: 'all',
  rulers: [],
  fixedOverflowWidgets: true,
  // What is suggested are words of the file: quietly, and only when asked for.
  wordBasedSuggestions: 'currentDocument',
  quickSuggestions: false,
});

/** @type {State} */
const state = { units: [], compiles: true, current: undefined, isBusy: false, runsTests: false, paths: [] };
const buffers = createBuffers({ monaco, onChange: () => view.drawFiles() });
const runs = createRuns({ onChange: () => view.drawOutcome() });
const tests = createTests({ onChange: () => testView.draw() });
const tree = createTree({
  node: byId('tree', HTMLElement),
  onOpen: (path) => void files.open(path),
  onRename: (entry) => void files.rename(entry),
  onDelete: (entry) => void files.remove(entry),
});
const view = createView({
  state,
  monaco,
  editor,
  buffers,
  runs,
  tree,
  onOpen: (path) => void files.open(path),
  onClose: (path) => void files.close(path),
  onGo: (problem) => void files.goTo(problem),
  onDraw: () => testView.refresh(),
});
const workspace = createWorkspace({ state, buffers, tree, view });
const files = createFiles({ state, editor, buffers, tree, view, workspace });
const { save, newFile } = files;
const testView = createTestView({ state, monaco, editor, buffers, tests, view, save, goTo: files.goTo });

const runButton = byId('run', HTMLButtonElement);
const run = view.guarded(async () => {
  const dagId = view.drawDag();
  if (dagId === undefined) return;
  const buffer = buffers.get(state.current);
  if (buffer && buffers.isDirty(buffer)) {
    await save();
    if (buffers.isDirty(buffer) || !view.dagsOfCurrent().includes(dagId)) return;
  }
  runButton.disabled = true;
  try {
    view.say(`Starting a run of ${dagId}…`);
    await runs.start(dagId);
    view.say('');
  } finally {
    runButton.disabled = false;
  }
});

// ---------------------------------------------------------------- events

const { KeyCode, KeyMod } = monaco;
editor.addCommand(KeyMod.CtrlCmd | KeyCode.KeyS, () => void save());
editor.addCommand(KeyMod.CtrlCmd | KeyCode.Enter, () => void run());
editor.onDidChangeCursorPosition(() => view.drawStatus());
addEventListener('keydown', (event) => {
  const isCommand = event.ctrlKey || event.metaKey;
  if (document.querySelector('dialog[open]')) return;
  const act =
    (isCommand && event.key === 's' && save) ||
    (isCommand && event.key === 'Enter' && run) ||
    (event.altKey && event.code === 'KeyN' && newFile);
  if (!act || event.defaultPrevented) return;
  event.preventDefault();
  void act();
});
addEventListener('beforeunload', (event) => buffers.hasDirty() && event.preventDefault());
document.addEventListener('visibilitychange', workspace.comeBack);
addEventListener('focus', workspace.comeBack);
onSessionEnd(() => !buffers.hasDirty());
/** @type {(id: string, act: () => Promise<void>) => void} */
const onClick = (id, act) => byId(id, HTMLButtonElement).addEventListener('click', () => void act());
onClick('save', save);
onClick('run', run);
onClick('new-file', newFile);
onClick('welcome-new', newFile);
onClick('reload-files', workspace.catchUp);
byId('dag-choice', HTMLSelectElement).addEventListener('change', () => view.drawOutcome());

// ---------------------------------------------------------------- start

await view.guarded(workspace.read)(asked);
const wanted = new URL(location.href).searchParams.get('path');
for (const path of lastTabs()) {
  if (tree.has(path) && path !== wanted) await buffers.open(path).catch(() => {});
}
const first = wanted ?? buffers.all()[0]?.path;
if (first !== undefined) await files.open(first);
view.drawAll();
if (state.runsTests) await view.guarded(tests.resume)();
document.documentElement.dataset.ready = 'true';
