/**
 * Resumes tasks that wait for runs of other DAGs, or for tasks in them, without polling:
 *
 *   a run or a task ends ─▶ after the commit: does a task wait for that DAG? ─▶ the tasks that wait for it are decided
 *   a task starts waiting ─▶ after the commit: has the run ended already?
 *
 * Both sides check after their own commit, so at least one of them sees the other. This process remembers which DAGs
 * are awaited, so that the end of a task needs no query when nothing waits. Another process with a new waiting task
 * notifies it (`refresh`). The recovery finds what was not notified (`lookAround`), because a process died or may not
 * write triggers.
 */
import { MAX_RUNS, MAX_STATES, readExternalStates } from '../../db/dag-runs/external-states.ts';
import type { Database } from '../../db/database.ts';
import type { TriggerRow } from '../../db/schema.ts';
import type { NamedRuns } from '../advance/run-effects.ts';
import type { BackgroundTasks } from '../background-tasks.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { findNewestVersion } from '../sql/dag-rows.ts';
import type { DagKey } from '../sql/dag-rows.ts';
import { findAwaiting, listAwaitedDags } from '../sql/triggers.ts';
import type { Awaits } from '../sql/triggers.ts';
import { awaitedTasks, decide } from './decide-awaited.ts';

export type AwaitedRuns = {
  /** Called for runs that have ended, or in which tasks have. */
  moved(runs: readonly NamedRuns[]): void;
  /** Called for runs for which a task starts waiting. */
  awaited(runs: readonly NamedRuns[]): void;
  /** Called when tasks of another process may have started waiting. */
  refresh(): Promise<void>;
  /** Checks all waiting tasks. */
  lookAround(): Promise<void>;
};

/** Waiting tasks that are decided together. */
const AT_ONCE = 100;

const keyOf = ({ tenantId, dagId }: DagKey): string => `${tenantId}/${dagId}`;

export function createAwaitedRuns(options: {
  db: Database;
  graphs: DagGraphs;
  background: BackgroundTasks;
  /** Called when a trigger has its event. */
  fire: (trigger: TriggerRow, event: string) => Promise<unknown>;
}): AwaitedRuns {
  const { db, graphs, background, fire } = options;
  let known = new Set<string>();
  /** DAGs that became awaited in this process while `known` was being read. */
  const added = new Set<string>();
  let learning: Promise<unknown> = Promise.resolve();

  async function look(dag: DagKey, names: readonly string[] | null): Promise<void> {
    const waiting = await findAwaiting(db.shared, { ...dag, names });
    if (waiting.length === 0) return;
    const versionNumber = await findNewestVersion(db.shared, dag);
    const spec =
      versionNumber === undefined ? undefined : (await graphs.get(db.shared, { ...dag, versionNumber })).spec;
    const questions = waiting.map((trigger) => {
      const awaits = JSON.parse(trigger.awaits ?? '{}') as Awaits;
      return { trigger, awaits, tasks: awaitedTasks(awaits, spec) };
    });
    for (const alike of Map.groupBy(questions, kindOf).values()) {
      for (let at = 0; at < alike.length; at += AT_ONCE) await answer(dag, alike.slice(at, at + AT_ONCE));
    }
  }

  async function answer(dag: DagKey, questions: readonly Question[]): Promise<void> {
    const [first] = questions;
    if (!first) return;
    const asked = together(questions);
    const names = (asked.runIds ?? asked.logicalDates ?? []).length;
    const states = await readExternalStates(db.tenant(dag.tenantId), { ...dag, ...asked });
    // The query may have reached its limit and left out states. These must not count as missing.
    if ((states.length >= MAX_STATES || names > MAX_RUNS) && questions.length > 1) {
      for (const question of questions) await answer(dag, [question]);
      return;
    }
    await Promise.all(
      questions.map(async ({ trigger, awaits, tasks }) => {
        const event = decide(awaits, tasks, states);
        if (event !== undefined) await fire(trigger, event);
      }),
    );
  }

  /**
   * Reads the awaited DAGs, one read after another, because an older answer must not replace a newer one. Returns those
   * that are new to this process.
   */
  function learn(): Promise<DagKey[]> {
    const learned = learning.then(readAwaited);
    learning = learned.catch(() => {});
    return learned;
  }

  async function readAwaited(): Promise<DagKey[]> {
    added.clear();
    const dags = await listAwaitedDags(db.shared);
    const before = known;
    known = new Set([...dags.map(keyOf), ...added]);
    return dags.filter((dag) => !before.has(keyOf(dag)));
  }

  return {
    moved(runs) {
      for (const run of runs) {
        if (known.has(keyOf(run)))
          background.run('telling who waits for a run', () =>
            look({ tenantId: run.tenantId, dagId: run.dagId }, run.names),
          );
      }
    },
    awaited(runs) {
      for (const { names, ...dag } of runs) {
        known.add(keyOf(dag));
        added.add(keyOf(dag));
        background.run('looking at what a task waits for', () => look(dag, names));
      }
    },
    async refresh() {
      for (const dag of await learn()) await look(dag, null);
    },
    async lookAround() {
      await learn();
      for (const key of known) await look(dagOf(key), null);
    },
  };
}

type Question = { trigger: TriggerRow; awaits: Awaits; tasks: ReturnType<typeof awaitedTasks> };

/** Questions of one kind can be read with one statement. */
const kindOf = ({ awaits, tasks }: Question): string =>
  `${awaits.runIds === null ? 'dates' : 'ids'} ${typeof tasks === 'object' ? 'tasks' : (tasks ?? 'runs')}`;

function together(questions: readonly Question[]) {
  const all = (list: (awaits: Awaits) => readonly string[] | null): string[] | undefined => {
    const found = questions.map(({ awaits }) => list(awaits));
    return found.some((names) => names === null) ? undefined : [...new Set(found.flatMap((names) => names ?? []))];
  };
  const [first] = questions;
  const tasks = questions.flatMap(({ tasks: own }) => (typeof own === 'object' ? own : []));
  return {
    runIds: all(({ runIds }) => runIds),
    logicalDates: all(({ logicalDates }) => logicalDates),
    tasks: typeof first?.tasks === 'object' ? [...new Set(tasks)] : first?.tasks,
  };
}

function dagOf(key: string): DagKey {
  const at = key.indexOf('/');
  return { tenantId: key.slice(0, at), dagId: key.slice(at + 1) };
}
