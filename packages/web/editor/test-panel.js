// The panel of a test: what came of it, the values of its tasks, what it printed, and what it is given.
import { byId, element, icon } from './dom.js';
/** @import { TestResult, WorkspaceTest } from '../browser.d.ts' */
/** @import { Inputs } from './tests.js' */

const panel = byId('test', HTMLElement);

/** @type {Readonly<Record<string, 'success' | 'error' | 'running' | 'skipped'>>} */
const LOOKS = { success: 'success', failed: 'error', running: 'running', upstream_failed: 'error' };
/** @param {string | null} state */
const lookOf = (state) => LOOKS[state ?? ''] ?? 'skipped';

/** @param {number | null} seconds */
const timeOf = (seconds) => (seconds === null ? '' : ` · ${seconds.toFixed(2)} s`);

/**
 * @param {TestResult} result
 * @param {(path: string, line: number) => void} onGo
 */
function resultRow({ name, state, tries, seconds, xcoms, error, path, line }, onGo) {
  const look = lookOf(state);
  return element(
    'div',
    { className: `line ${look}`, dataset: { result: name, state: state ?? '' } },
    icon(look),
    element(
      'span',
      { className: 'text' },
      element('strong', {}, name),
      `: ${state ?? 'not run'}${tries !== null && tries > 1 ? `, try ${tries}` : ''}${timeOf(seconds)}`,
      error === null ? undefined : element('span', { className: 'message' }, error),
      ...xcoms.map(({ key, json, is_cut: isCut }) =>
        element('code', { className: 'xcom' }, `${key} = ${json}${isCut ? '…' : ''}`),
      ),
    ),
    path === null || line === null
      ? undefined
      : element(
          'button',
          { type: 'button', className: 'place', title: 'Go to this line', onclick: () => onGo(path, line) },
          `${path}:${line}`,
        ),
  );
}

/**
 * A box with the values that a task gets. They can be changed before it runs again.
 * @param {Inputs} inputs
 * @param {boolean} isTask
 */
function inputBox(inputs, isTask) {
  const shown = isTask ? inputs : { conf: inputs.conf };
  const box = element('textarea', {
    rows: 4,
    spellcheck: false,
    value: JSON.stringify(shown, null, 2),
    'aria-label': 'Values for the test, as JSON',
  });
  const what = isTask ? 'Values: conf, and xcoms of other tasks by their id' : 'Values: conf';
  return { box, node: element('details', { className: 'inputs' }, element('summary', {}, what), box) };
}

/** @param {unknown} value */
const isMap = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @type {(label: string, sign: 'run' | 'stop', act: () => void) => HTMLElement} */
const button = (label, sign, act) =>
  element('button', { type: 'button', className: 'button', onclick: act }, icon(sign), element('span', {}, label));

/** @param {string} text @returns {Inputs} */
function readInputs(text) {
  const { conf = {}, xcoms = {}, ...others } = JSON.parse(text);
  if (!isMap(conf) || !isMap(xcoms) || Object.keys(others).length > 0) {
    throw new SyntaxError('give an object with "conf" and "xcoms", which are objects');
  }
  return { conf, xcoms };
}

/** The parts of the panel that stay while a test runs. */
/** @type {{ id: string, summary: HTMLElement, results: HTMLElement, log: HTMLPreElement, logBox: HTMLDetailsElement } | undefined} */
let shown;

/**
 * @param {{
 *   test: WorkspaceTest,
 *   key: string,
 *   name: string,
 *   inputs: Inputs | null,
 *   onStart: (inputs?: Inputs) => void,
 *   onStop: () => void,
 *   onGo: (path: string, line: number) => void,
 *   onProblem: (text: string) => void,
 * }} input
 */
export function drawTestPanel({ test, key, name, inputs, onStart, onStop, onGo, onProblem }) {
  const { state, problem, seconds, results, log } = test;
  const isRunning = state === 'running';
  if (shown?.id !== `${test.test_id} ${isRunning}`) {
    const wasOpen = panel.dataset['key'] === key && panel.querySelector('details.inputs')?.hasAttribute('open');
    const values = inputs && inputBox(inputs, test.task_id !== null);
    if (values && wasOpen) values.node.open = true;
    const runAgain = () => {
      try {
        onStart(values?.node.open ? readInputs(values.box.value) : undefined);
      } catch (error) {
        onProblem(`The values cannot be read: ${error instanceof Error ? error.message : error}`);
      }
    };
    const close = element('button', {
      type: 'button',
      className: 'icon-button',
      title: 'Close the panel',
      'aria-label': 'Close the panel of the test',
      onclick: () => (panel.hidden = true),
    });
    close.append(icon('close'));
    const summary = element('span', { className: 'text', role: 'status' });
    const logPre = element('pre', { tabIndex: 0, 'aria-label': 'Log of the test' });
    const logBox = element('details', { className: 'log', open: true }, element('summary', {}, 'Log'), logPre);
    const resultList = element('div', { className: 'results' });
    shown = { id: `${test.test_id} ${isRunning}`, summary, results: resultList, log: logPre, logBox };
    const look = lookOf(state);
    panel.replaceChildren(
      element(
        'div',
        { className: `line ${look}` },
        icon(look),
        summary,
        isRunning ? button('Stop', 'stop', onStop) : button('Run again', 'run', runAgain),
        isRunning ? undefined : close,
      ),
      resultList,
      ...(values && !isRunning ? [values.node] : []),
      logBox,
    );
    panel.dataset['key'] = key;
    panel.dataset['state'] = state;
    panel.tabIndex = -1;
    panel.hidden = false;
    resultList.replaceChildren(...results.map((result) => resultRow(result, onGo)));
  }
  const isFollowed = shown.log.scrollTop + shown.log.clientHeight >= shown.log.scrollHeight - 4;
  shown.summary.replaceChildren(
    test.kind === 'pytest' && test.test === null ? 'Tests of ' : 'Test of ',
    element('strong', {}, name),
    isRunning ? `: running, ${seconds.toFixed(0)} s` : `: ${state}${timeOf(seconds)}`,
    problem === null ? '' : element('span', { className: 'message' }, problem),
  );
  if (shown.log.textContent !== log) shown.log.textContent = log;
  shown.logBox.hidden = log === '';
  if (isFollowed) shown.log.scrollTop = shown.log.scrollHeight;
}
