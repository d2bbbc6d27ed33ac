// Starts a run and follows it to its end.
import { Failure, api, dagPage, runPage } from './api.js';
import { element, icon } from './dom.js';
/** @import { RunState } from '../browser.d.ts' */

/** @typedef {{ dagId: string, runId: string, state: RunState, wasPaused: boolean }} FollowedRun */

/** @typedef {ReturnType<typeof createRuns>} Runs */

/** @type {ReadonlySet<RunState>} */
const FINAL = new Set(['success', 'failed']);
const LOOK_EVERY_MS = 1_000;
const LOOKS = /** @type {const} */ ({ queued: 'running', running: 'running', success: 'success', failed: 'error' });

/** @param {unknown} error */
const asError = (error) => (error instanceof Error ? error : new Error(String(error)));

/**
 * `onChange` is told whenever there is something else to show.
 * @param {{ onChange: () => void }} input
 */
export function createRuns({ onChange }) {
  /** The latest of each DAG. @type {Map<string, FollowedRun>} */
  const runs = new Map();

  /** @param {FollowedRun} entry */
  async function follow(entry) {
    while (!FINAL.has(entry.state) && runs.get(entry.dagId) === entry) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      if (document.visibilityState === 'hidden') continue;
      const run = await api.run(entry.dagId, entry.runId).catch(asError);
      if (run instanceof Failure && run.status === 404) return;
      if (run instanceof Error || run.state === entry.state) continue;
      entry.state = run.state;
      onChange();
    }
  }

  return {
    /** @param {string} dagId */
    async start(dagId) {
      const dag = await api.dag(dagId);
      // A run of a DAG that is paused would wait for ever; the web UI's own form does the same.
      if (dag.is_paused) await api.unpause(dagId);
      const run = await api.trigger(dagId).catch((/** @type {unknown} */ error) => {
        if (!(error instanceof Failure) || error.status !== 400) throw error;
        throw new Failure(400, `${error.message}. Start it from its page, where its parameters can be given.`);
      });
      /** @type {FollowedRun} */
      const entry = { dagId, runId: run.dag_run_id, state: run.state, wasPaused: dag.is_paused };
      runs.set(dagId, entry);
      onChange();
      void follow(entry);
    },
    /** @param {string} dagId */
    row(dagId) {
      const entry = runs.get(dagId);
      if (!entry) return undefined;
      const look = LOOKS[entry.state];
      return element(
        'div',
        { className: `line ${look}`, dataset: { state: entry.state } },
        icon(look),
        element(
          'span',
          { className: 'text' },
          'Run ',
          element('a', { href: runPage(dagId, entry.runId), className: 'run-link' }, entry.runId),
          ` of ${dagId}: `,
          element('strong', {}, entry.state),
          entry.wasPaused
            ? element(
                'span',
                { className: 'hint' },
                'The DAG was paused; it is not any more. ',
                element('a', { href: dagPage(dagId) }, 'Its page'),
                ' can pause it again.',
              )
            : undefined,
        ),
      );
    },
  };
}
