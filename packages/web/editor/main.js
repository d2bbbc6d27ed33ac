// The editor: files on the left, text in the middle, and below it what the compiler and the scheduler say.
import { Failure, api, dagPage, onSessionEnd } from './api.js';
import { createBuffers } from './buffers.js';
import { askConflict, askDelete, askName, askNewFile, askUnsaved } from './dialogs.js';
import { byId, drawIcons, element, icon } from './dom.js';
import { followTheme, loadMonaco } from './monaco.js';
import { marksOf, outcomeRows, setMarkers, unitsOf } from './problems.js';
import { createRuns } from './runs.js';
import { contentFor } from './templates.js';
import { drawTabs } from './tabs.js';
import { createTree } from './tree.js';

const LAST_TABS = 'svc-editor-tabs';
const SECOND_LOOK_MS = 2_000;
const CATCH_UP_EVERY_MS = 2_000;

drawIcons();
let units = [];
/** False where nothing compiles what is saved: elsewhere than in lite, or lite without a Python. */
let compiles = true;
let current;
/** What happened last that is no problem of a file; shown until the next thing happens. */
let notice;
let isBusy = false;

let applyTheme = () => {};
const refreshTheme = followTheme((theme) => applyTheme(theme));
/** Asked while the code editor loads: whoever is not signed in is sent to do so without waiting for it. */
const asked = api.workspace();
asked.catch(() => {}); // looked at below
const monaco = await loadMonaco().catch((error) => {
  byId('status-state').textContent = error.message;
  throw error;
});
applyTheme = (theme) => monaco.editor.setTheme(theme);
refreshTheme();

const editor = monaco.editor.create(byId('editor'), {
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

const buffers = createBuffers({ monaco, onChange: () => drawFiles() });
const runs = createRuns({ onChange: () => drawOutcome() });
const tree = createTree({ node: byId('tree'), onOpen: open, onRename: rename, onDelete: remove });

/** Shows what went wrong instead of losing it in the console. */
const guarded =
  (work) =>
  async (...input) => {
    try {
      return await work(...input);
    } catch (error) {
      say(error.message, 'error');
      if (!(error instanceof Failure)) throw error;
    }
  };

function say(text, kind = '') {
  notice = text === '' ? undefined : { text, kind };
  drawStatus();
}

// ---------------------------------------------------------------- drawing

function drawFiles() {
  drawTabs({ node: byId('tabs'), buffers, current, onOpen: open, onClose: close });
  const buffer = buffers.get(current);
  byId('save').disabled = !buffer || isBusy || !buffers.isDirty(buffer);
  document.title = document.title.replace(/^(● )?/, buffers.hasDirty() ? '● ' : '');
  sessionStorage.setItem(LAST_TABS, JSON.stringify(buffers.all().map(({ path }) => path)));
}

function drawStatus() {
  const buffer = buffers.get(current);
  const state = byId('status-state');
  state.className = notice?.kind ?? '';
  state.textContent = notice?.text ?? '';
  const position = buffer && editor.getPosition();
  byId('status-place').textContent = position ? `Line ${position.lineNumber}, column ${position.column}` : '';
  byId('status-language').textContent = buffer ? buffer.model.getLanguageId() : '';
}

const dagsOfCurrent = () => (current === undefined ? [] : unitsOf(units, current).flatMap(({ dag_ids: ids }) => ids));

function drawDag() {
  const ids = dagsOfCurrent();
  const choice = byId('dag-choice');
  const chosen = ids.includes(choice.value) ? choice.value : ids[0];
  choice.replaceChildren(...ids.map((id) => element('option', { value: id, selected: id === chosen }, id)));
  choice.hidden = ids.length < 2;
  byId('dag').hidden = chosen === undefined;
  if (chosen === undefined) return undefined;
  const link = byId('dag-link');
  link.href = dagPage(chosen);
  link.replaceChildren(icon('dags'), element('span', {}, ids.length > 1 ? 'Open' : chosen));
  return chosen;
}

function drawOutcome() {
  const chosen = drawDag();
  const rows = current === undefined ? [] : outcomeRows({ units, path: current, onGo: guarded(goTo) });
  const run = chosen === undefined ? undefined : runs.row(chosen);
  const all = [...(run ? [run] : []), ...rows];
  byId('outcome').replaceChildren(...all);
  byId('outcome').hidden = all.length === 0;
}

function drawAll() {
  const buffer = buffers.get(current);
  byId('welcome').hidden = buffer !== undefined;
  byId('editor').hidden = buffer === undefined;
  tree.select(current);
  tree.mark(marksOf(units));
  setMarkers({ monaco, buffers, units });
  drawFiles();
  drawStatus();
  drawOutcome();
}

// ---------------------------------------------------------------- files

async function readWorkspace(asked = api.workspace()) {
  const workspace = await asked;
  byId('workspace').textContent = workspace.name;
  compiles = workspace.units !== null;
  units = workspace.units ?? [];
  tree.show(workspace.entries);
  const note = byId('tree-note');
  note.hidden = workspace.is_complete && workspace.entries.length > 0;
  note.textContent = workspace.is_complete ? 'Nothing here yet.' : 'There is more than is shown here.';
}

async function show(path) {
  const buffer = await buffers.open(path);
  const before = buffers.get(current);
  if (before && before !== buffer) before.viewState = editor.saveViewState();
  current = path;
  if (editor.getModel() !== buffer.model) {
    editor.setModel(buffer.model);
    if (buffer.viewState) editor.restoreViewState(buffer.viewState);
  }
  const url = new URL(location.href);
  url.searchParams.set('path', path);
  history.replaceState(null, '', url);
  say('');
  drawAll();
  editor.focus();
}

function open(path) {
  return guarded(show)(path);
}

async function goTo({ path, line, column }) {
  if (!tree.has(path)) return;
  await show(path);
  if (line === null) return;
  editor.setPosition({ lineNumber: line, column: column ?? 1 });
  editor.revealLineInCenterIfOutsideViewport(line);
}

const close = guarded(async (path) => {
  const buffer = buffers.get(path);
  if (!buffer) return;
  if (buffers.isDirty(buffer)) {
    const answer = await askUnsaved(path);
    if (answer === null) return;
    if (answer === 'save' && !(await saveBuffer(buffer))) return;
  }
  const paths = buffers.all().map((each) => each.path);
  buffers.close(path);
  if (path === current) {
    const at = paths.indexOf(path);
    const next = paths[at + 1] ?? paths[at - 1];
    current = undefined;
    if (next !== undefined) return show(next);
    editor.setModel(null);
    const url = new URL(location.href);
    url.searchParams.delete('path');
    history.replaceState(null, '', url);
  }
  drawAll();
});

/** True when it is on disk. */
async function saveBuffer(buffer) {
  try {
    await buffers.save(buffer);
    return true;
  } catch (error) {
    if (!(error instanceof Failure) || ![404, 412].includes(error.status)) throw error;
    const answer = await askConflict(buffer.path);
    if (answer === 'overwrite') {
      await buffers.overwrite(buffer);
      return true;
    }
    if (answer === 'load') await buffers.load(buffer);
    return false;
  }
}

async function compile(path) {
  if (!compiles) await readWorkspace(); // it may by now
  if (!compiles) return say('Saved. Nothing compiles it here: `svc deploy` does, or lite with a Python', 'warning');
  say('Compiling…');
  ({ units } = await api.compile(path));
  const problems = unitsOf(units, path).flatMap((unit) => unit.problems);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) say(`Saved, but it does not compile: ${errors} ${errors === 1 ? 'error' : 'errors'}`, 'error');
  else say(dagsOfCurrent().length > 0 ? 'Saved and live' : 'Saved', 'success');
}

const save = guarded(async () => {
  const buffer = buffers.get(current);
  if (!buffer || isBusy) return;
  isBusy = true;
  try {
    say('Saving…');
    if (!(await saveBuffer(buffer))) return say('');
    drawFiles();
    await compile(buffer.path);
  } finally {
    isBusy = false;
    drawAll();
    lookAgain();
  }
});

/** With a number behind it when the name is taken. */
const freePath = (make) =>
  ['', '_2', '_3', '_4', '_5', '_6', '_7', '_8', '_9'].map(make).find((path) => !tree.has(path));

const newFile = guarded(async () => {
  const folder = current?.includes('/') ? current.slice(0, current.lastIndexOf('/')) : undefined;
  // Beside a project there is room for another one; in a folder of plain DAG files for another file.
  const isProject = folder !== undefined && units.some((unit) => unit.folder === folder);
  const suggestion =
    folder !== undefined && !isProject
      ? freePath((n) => `${folder}/my_dag${n}.py`)
      : freePath((n) => `my_dag${n}/dag.py`);
  let created;
  await askNewFile({
    suggestion: suggestion ?? 'my_dag/dag.py',
    create: async (path, template) => {
      await api.create(path, contentFor(path, template));
      created = path;
    },
  });
  if (created === undefined) return;
  await readWorkspace();
  await show(created);
  await compile(created);
  drawAll();
  lookAgain();
});

function rename({ path }) {
  return guarded(async () => {
    let renamed;
    await askName({
      path,
      rename: async (to) => {
        await api.rename(path, to);
        renamed = to;
      },
    });
    if (renamed === undefined) return;
    const isConcerned = current === path || current?.startsWith(`${path}/`);
    const next = isConcerned ? renamed + current.slice(path.length) : current;
    buffers.rename(path, renamed);
    if (isConcerned) current = undefined;
    await readWorkspace();
    if (next !== undefined) await show(next);
    if (compiles) ({ units } = await api.compile(next ?? renamed));
    drawAll();
    lookAgain();
  })();
}

function remove({ path, kind }) {
  return guarded(async () => {
    const isFolder = kind === 'folder';
    const etag = isFolder ? undefined : (buffers.get(path)?.etag ?? (await api.read(path)).etag);
    const answer = await askDelete({ path, isFolder, remove: () => api.remove(path, etag) });
    if (answer === null) return;
    buffers.close(path);
    if (current === path) {
      current = undefined;
      editor.setModel(null);
    }
    const next = current ?? buffers.all().at(-1)?.path;
    await readWorkspace();
    units = units.filter((unit) => unit.source !== path);
    if (next !== undefined) await show(next);
    drawAll();
    lookAgain();
  })();
}

// ---------------------------------------------------------------- runs

const run = guarded(async () => {
  const dagId = drawDag();
  if (dagId === undefined) return;
  const buffer = buffers.get(current);
  if (buffer && buffers.isDirty(buffer)) {
    await save();
    if (buffers.isDirty(buffer) || !dagsOfCurrent().includes(dagId)) return;
  }
  byId('run').disabled = true;
  try {
    say(`Starting a run of ${dagId}…`);
    await runs.start(dagId);
    say('');
  } finally {
    byId('run').disabled = false;
  }
});

// ---------------------------------------------------------------- events

/** What happened while nobody looked: files that came and went, and what other programs have saved. */
const catchUp = guarded(async () => {
  await readWorkspace();
  for (const buffer of buffers.all()) {
    const state = await buffers.refresh(buffer);
    if (state === 'changed')
      say(`${buffer.path} has changed on disk, and here too: saving will ask which to keep`, 'warning');
    if (state === 'gone') say(`${buffer.path} is no longer on disk: saving will make it again`, 'warning');
  }
  drawAll();
  lookAgain();
});

/** What was saved may concern other files, which are compiled after it: a second look, when that is most likely done. */
let secondLook;
function lookAgain() {
  clearTimeout(secondLook);
  secondLook = setTimeout(() => {
    if (isBusy || document.querySelector('dialog[open]')) return;
    guarded(readWorkspace)().then(drawAll);
  }, SECOND_LOOK_MS);
}

let lastCatchUp = Date.now();
function comeBack() {
  if (document.visibilityState === 'hidden' || isBusy || Date.now() - lastCatchUp < CATCH_UP_EVERY_MS) return;
  lastCatchUp = Date.now();
  void catchUp();
}

const { KeyCode, KeyMod } = monaco;
editor.addCommand(KeyMod.CtrlCmd | KeyCode.KeyS, () => void save());
editor.addCommand(KeyMod.CtrlCmd | KeyCode.Enter, () => void run());
editor.onDidChangeCursorPosition(() => drawStatus());
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
document.addEventListener('visibilitychange', comeBack);
addEventListener('focus', comeBack);
onSessionEnd(() => !buffers.hasDirty());
byId('save').addEventListener('click', () => void save());
byId('run').addEventListener('click', () => void run());
byId('dag-choice').addEventListener('change', () => drawOutcome());
byId('new-file').addEventListener('click', () => void newFile());
byId('welcome-new').addEventListener('click', () => void newFile());
byId('reload-files').addEventListener('click', () => void catchUp());

// ---------------------------------------------------------------- start

await guarded(readWorkspace)(asked);
const wanted = new URL(location.href).searchParams.get('path');
for (const path of JSON.parse(sessionStorage.getItem(LAST_TABS) ?? '[]')) {
  if (tree.has(path) && path !== wanted) await buffers.open(path).catch(() => {});
}
if (wanted !== null) await open(wanted);
else if (buffers.all().length > 0) await open(buffers.all()[0].path);
drawAll();
document.documentElement.dataset.ready = 'true';
