// What the page shows of the open files: tabs, status, the current one's DAG, and what compiler and scheduler say.
import { Failure, dagPage, messageOf } from './api.js';
import { byId, element, icon } from './dom.js';
import { marksOf, outcomeRows, setMarkers, unitsOf } from './problems.js';
import { drawTabs } from './tabs.js';
/** @import { editor } from 'monaco-editor' */
/** @import { Monaco, Problem, Unit } from '../browser.d.ts' */
/** @import { Buffers } from './buffers.js' */
/** @import { Runs } from './runs.js' */
/** @import { Tree } from './tree.js' */

/**
 * @typedef {object} State
 * @property {readonly Unit[]} units
 * @property {boolean} compiles false where nothing compiles what is saved: elsewhere than in lite, or lite without a Python
 * @property {string | undefined} current path of the file that is shown
 * @property {boolean} isBusy while it is saved
 * @property {boolean} runsTests true in lite: tasks and tests can be run from their lines
 * @property {readonly string[]} paths of all files
 */

/** @typedef {ReturnType<typeof createView>} View */

/** @typedef {'' | Problem['severity'] | 'success'} NoticeKind */

const LAST_TABS = 'svc-editor-tabs';

/**
 * What was open here before the page was loaded again.
 * @returns {string[]}
 */
export const lastTabs = () => JSON.parse(sessionStorage.getItem(LAST_TABS) ?? '[]');

const page = {
  tabs: byId('tabs', HTMLElement),
  save: byId('save', HTMLButtonElement),
  editor: byId('editor', HTMLElement),
  welcome: byId('welcome', HTMLElement),
  outcome: byId('outcome', HTMLElement),
  dag: byId('dag', HTMLElement),
  dagChoice: byId('dag-choice', HTMLSelectElement),
  dagLink: byId('dag-link', HTMLAnchorElement),
  state: byId('status-state', HTMLElement),
  place: byId('status-place', HTMLElement),
  language: byId('status-language', HTMLElement),
};

/**
 * @param {{
 *   state: State,
 *   monaco: Monaco,
 *   editor: editor.IStandaloneCodeEditor,
 *   buffers: Buffers,
 *   runs: Runs,
 *   tree: Tree,
 *   onOpen: (path: string) => void,
 *   onClose: (path: string) => void,
 *   onGo: (problem: Problem) => void,
 *   onDraw: () => void,
 * }} input
 */
export function createView({ state, monaco, editor, buffers, runs, tree, onOpen, onClose, onGo, onDraw }) {
  /**
   * What happened last that is no problem of a file; shown until the next thing happens.
   * @type {{ text: string, kind: NoticeKind } | undefined}
   */
  let notice;

  /**
   * @param {string} text
   * @param {NoticeKind} kind
   */
  function say(text, kind = '') {
    notice = text === '' ? undefined : { text, kind };
    drawStatus();
  }

  function drawFiles() {
    const { current, isBusy } = state;
    drawTabs({ node: page.tabs, buffers, current, onOpen, onClose });
    const buffer = buffers.get(current);
    page.save.disabled = !buffer || isBusy || !buffers.isDirty(buffer);
    document.title = document.title.replace(/^(● )?/, buffers.hasDirty() ? '● ' : '');
    sessionStorage.setItem(LAST_TABS, JSON.stringify(buffers.all().map(({ path }) => path)));
  }

  function drawStatus() {
    const buffer = buffers.get(state.current);
    page.state.className = notice?.kind ?? '';
    page.state.textContent = notice?.text ?? '';
    const position = buffer && editor.getPosition();
    page.place.textContent = position ? `Line ${position.lineNumber}, column ${position.column}` : '';
    page.language.textContent = buffer ? buffer.model.getLanguageId() : '';
  }

  const dagsOfCurrent = () =>
    state.current === undefined ? [] : unitsOf(state.units, state.current).flatMap(({ dag_ids: ids }) => ids);

  /** Returns the one that is chosen, if there is any. */
  function drawDag() {
    const ids = dagsOfCurrent();
    const { dag, dagChoice: choice, dagLink: link } = page;
    const chosen = ids.includes(choice.value) ? choice.value : ids[0];
    choice.replaceChildren(...ids.map((id) => element('option', { value: id, selected: id === chosen }, id)));
    choice.hidden = ids.length < 2;
    dag.hidden = chosen === undefined;
    if (chosen === undefined) return undefined;
    link.href = dagPage(chosen);
    link.replaceChildren(icon('dags'), element('span', {}, ids.length > 1 ? 'Open' : chosen));
    return chosen;
  }

  function drawOutcome() {
    const chosen = drawDag();
    const { current, units } = state;
    const rows = current === undefined ? [] : outcomeRows({ units, path: current, onGo });
    const run = chosen === undefined ? undefined : runs.row(chosen);
    const all = [...(run ? [run] : []), ...rows];
    page.outcome.replaceChildren(...all);
    page.outcome.hidden = all.length === 0;
  }

  function drawAll() {
    const { current, units } = state;
    const buffer = buffers.get(current);
    page.welcome.hidden = buffer !== undefined;
    page.editor.hidden = buffer === undefined;
    tree.select(current);
    tree.mark(marksOf(units));
    setMarkers({ monaco, buffers, units });
    drawFiles();
    drawStatus();
    drawOutcome();
    onDraw();
  }

  /**
   * Shows what went wrong instead of losing it in the console.
   * @template {unknown[]} Input
   * @template Result
   * @param {(...input: Input) => Promise<Result>} work
   * @returns {(...input: Input) => Promise<Result | undefined>}
   */
  const guarded =
    (work) =>
    async (...input) => {
      try {
        return await work(...input);
      } catch (error) {
        say(messageOf(error), 'error');
        if (!(error instanceof Failure)) throw error;
        return undefined;
      }
    };

  return { say, guarded, drawFiles, drawStatus, drawDag, drawOutcome, drawAll, dagsOfCurrent };
}
