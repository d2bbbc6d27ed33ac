// Buttons at the lines of tasks and tests, and what came of them: next to the line, at the line of an error, in a panel.
import { api } from './api.js';
import { isTestFile, hasTests, taskLines, testLines } from './test-lines.js';
import { drawTestPanel } from './test-panel.js';
import { keyOf, nameOf, orderOf } from './tests.js';
/** @import { editor, languages } from 'monaco-editor' */
/** @import { Monaco, Problem, TestOrder } from '../browser.d.ts' */
/** @import { Buffers } from './buffers.js' */
/** @import { DagTasks } from './test-lines.js' */
/** @import { Inputs, Tests } from './tests.js' */
/** @import { State, View } from './view.js' */

const OWNER = 'svc-test';
const LONGEST_AT_LINE = 160;
/** @type {Readonly<Record<string, string>>} */
const SIGNS = { success: '✓ success', failed: '✕ failed', skipped: '– skipped', stopped: '■ stopped' };

/** @param {string} path */
const pathOf = (path) => path.replace(/^\//, '');

/**
 * @param {{
 *   state: State,
 *   monaco: Monaco,
 *   editor: editor.IStandaloneCodeEditor,
 *   buffers: Buffers,
 *   tests: Tests,
 *   view: View,
 *   save: () => Promise<unknown>,
 *   goTo: (problem: Problem) => Promise<unknown>,
 * }} input
 */
export function createTestView({ state, monaco, editor, buffers, tests, view, save, goTo }) {
  const changed = new monaco.Emitter();
  /** By DAG. @type {Map<string, readonly string[]>} */
  const tasks = new Map();
  /** What the tasks have been asked for, so that each compilation is asked for once. @type {unknown} */
  let askedFor;
  const marks = editor.createDecorationsCollection();
  /** The end of which test has been brought into view. @type {string | undefined} */
  let revealed;

  /** @param {string | undefined} path */
  const dagsOf = (path) => state.units.filter(({ source }) => source === path).flatMap(({ dag_ids: dagIds }) => dagIds);

  /** @type {(order: TestOrder, inputs?: Inputs) => Promise<unknown>} */
  const start = view.guarded(async (order, inputs) => {
    const buffer = buffers.get(state.current);
    if (buffer && buffers.isDirty(buffer)) {
      await save();
      if (buffers.isDirty(buffer)) return;
      await readTasks();
    }
    if (order.kind === 'run') {
      const { dag_id: dagId, task_id: taskId } = order;
      if (inputs) tests.give(dagId, taskId, inputs);
      await tests.start({ ...order, ...tests.inputsOf(dagId, taskId, tasks.get(dagId) ?? []) });
    } else await tests.start(order);
    view.say('');
  });
  const stop = view.guarded(tests.stop);

  const startCommand = editor.addCommand(0, (_accessor, order) => void start(order)) ?? '';
  const stopCommand = editor.addCommand(0, () => void stop()) ?? '';
  const showCommand = editor.addCommand(0, () => document.getElementById('test')?.focus()) ?? '';

  /** @type {(line: number, order: TestOrder, title: string) => languages.CodeLens[]} */
  function lensesOf(line, order, title) {
    const range = new monaco.Range(line, 1, line, 1);
    const found = tests.stateOf(order);
    if (found === 'running') return [{ range, command: { id: stopCommand, title: `■ Stop ${nameOf(order)}` } }];
    const sign = found === undefined || found === null ? undefined : SIGNS[found];
    return [
      { range, command: { id: startCommand, title: `▶ ${title}`, arguments: [order] } },
      ...(sign === undefined ? [] : [{ range, command: { id: showCommand, title: sign } }]),
    ];
  }

  /** @param {editor.ITextModel} model */
  function provide(model) {
    const path = pathOf(model.uri.path);
    if (!state.runsTests || model.uri.scheme !== 'workspace') return [];
    if (isTestFile(path)) {
      return testLines(model.getValue()).flatMap(({ line, test }) =>
        lensesOf(
          line,
          { kind: 'pytest', path, ...(test !== null && { test }) },
          test === null ? 'Run the tests of this file' : 'Run this test',
        ),
      );
    }
    /** @type {DagTasks[]} */
    const dags = dagsOf(path).map((dagId) => ({ dagId, taskIds: tasks.get(dagId) ?? [] }));
    const lenses = taskLines(model.getValue(), dags).flatMap(({ line, dagId, taskId }) => {
      const what = taskId === null ? `Test ${dagId}` : `Test ${taskId}`;
      return lensesOf(line, { kind: 'run', path, dag_id: dagId, ...(taskId !== null && { task_id: taskId }) }, what);
    });
    const unit = state.units.find(({ source }) => source === path);
    if (!unit || !hasTests(path, state.paths, unit.folder)) return lenses;
    return [...lensesOf(1, { kind: 'pytest', path }, 'Run the tests of this DAG file'), ...lenses];
  }

  monaco.languages.registerCodeLensProvider('python', {
    onDidChange: changed.event,
    provideCodeLenses: (model) => ({ lenses: provide(model), dispose() {} }),
  });

  /** Which tasks the DAGs of the file have, as they were compiled last. */
  async function readTasks() {
    const { current, units } = state;
    if (!state.runsTests) return;
    for (const dagId of dagsOf(current)) {
      const found = await api.tasks(dagId).catch(() => undefined); // it may be about to be registered
      if (found)
        tasks.set(dagId, found.tasks.map(({ task_id: id }) => id)); // prettier-ignore
      else if (askedFor === units) askedFor = undefined;
    }
    changed.fire(undefined);
  }

  /** The panel takes room from the text, so the line of an error may be hidden. */
  function reveal() {
    const test = tests.latest();
    if (!test || test.state === 'running' || revealed === test.test_id) return;
    revealed = test.test_id;
    const line = test.results.find((one) => one.path === state.current && one.error !== null)?.line ?? undefined;
    if (line !== undefined) editor.revealLineInCenterIfOutsideViewport(line);
  }

  /** Errors of the latest test at their lines. */
  function drawMarks() {
    const test = tests.latest();
    const failures = (test?.results ?? []).filter(({ error, line }) => error !== null && line !== null);
    for (const { path, model } of buffers.all()) {
      const here = failures.filter((one) => one.path === path && (one.line ?? 0) <= model.getLineCount());
      monaco.editor.setModelMarkers(
        model,
        OWNER,
        here.map(({ name, error, line }) => ({
          severity: monaco.MarkerSeverity.Error,
          message: `${name}: ${error}`,
          source: 'test',
          startLineNumber: line ?? 1,
          endLineNumber: line ?? 1,
          startColumn: model.getLineFirstNonWhitespaceColumn(line ?? 1) || 1,
          endColumn: model.getLineMaxColumn(line ?? 1),
        })),
      );
      if (path !== state.current) continue;
      marks.set(
        here.map(({ error, line }) => ({
          range: new monaco.Range(line ?? 1, 1, line ?? 1, model.getLineMaxColumn(line ?? 1)),
          options: {
            after: { content: `    ✕ ${firstLine(error ?? '')}`, inlineClassName: 'test-error', cursorStops: null },
          },
        })),
      );
    }
  }

  function draw() {
    const test = tests.latest();
    changed.fire(undefined);
    drawMarks();
    if (!test) return;
    const order = orderOf(test);
    drawTestPanel({
      test,
      key: keyOf(order),
      name: nameOf(order),
      inputs: order.kind === 'run' ? tests.inputsOf(order.dag_id, order.task_id, tasks.get(order.dag_id) ?? []) : null,
      onStart: (inputs) => void start(order, inputs),
      onStop: () => void stop(),
      onGo: (path, line) => void goTo({ path, line, column: null, severity: 'error', message: '', hint: '' }),
      onProblem: (text) => view.say(text, 'error'),
    });
    reveal();
  }

  return {
    draw,
    /** After another file was opened, or something was compiled. */
    refresh() {
      drawMarks();
      if (askedFor !== state.units || dagsOf(state.current).some((dagId) => !tasks.has(dagId))) {
        askedFor = state.units;
        void readTasks();
      } else changed.fire(undefined);
    },
  };
}

/** @param {string} text */
const firstLine = (text) => (text.split('\n')[0] ?? '').slice(0, LONGEST_AT_LINE);
