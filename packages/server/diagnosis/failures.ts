/** Builds the failures of a diagnosis: cause, earlier tries, what each blocks, its history, and its last lines. */
import { parseExact } from '@svc/spec/exact-json.ts';
import { adviceFor } from '@svc/spec/failure-advice.ts';
import { capText, shareBudget } from '@svc/spec/text/caps.ts';
import { redactValue } from '@svc/spec/text/redact.ts';
import { safeText, safeTextOrNull } from '@svc/spec/text/safe-text.ts';
import { listVersionsByNumber } from '../db/dags/version-lookups.ts';
import { findSameInstances } from '../db/diagnosis/run-history.ts';
import { countInstances } from '../db/task-instances/counts.ts';
import { findRenderedFields } from '../db/task-instances/details.ts';
import { findInstancesOfTasks } from '../db/task-instances/task-instances.ts';
import type { ListedInstance } from '../db/task-instances/task-instances.ts';
import { listTries } from '../db/task-instances/try-history.ts';
import { blockedBy } from './blocked.ts';
import { shortCause, structuredCause } from './cause.ts';
import { failureHistoryOf } from './history.ts';
import { readTail } from './log-tail.ts';
import type { ReadTail } from './log-tail.ts';
import { logKeyOf } from './read-facts.ts';
import type { DiagnosisSources, RunFacts } from './read-facts.ts';
import type { SpecTask } from './spec-task.ts';
import type { Failure, FailedTry, AuthoredVersion } from './types.ts';

const MAX_TRIES_READ = 5;
const MAX_UPSTREAM = 3;
const MAX_MAPPED_COUNTED = 3;
/** Number of blocked task ids that are listed per failure. The total is always shown. */
const MAX_BLOCKED_IDS = 20;
const FEW_LINES = 3;
/** Limit per line of other tasks. These lines are often irrelevant. */
const MAX_AUTHOR = 100;
const SHORT_LINE = 300;
/** Limit of all logs together, for each requested line. */
const LOG_LENGTH_PER_LINE = 200;
const MAX_RENDERED_LENGTH = 400;
const LOGS_AT_ONCE = 4;

/** The facts of a run that its failures need. */
export type FailureFacts = Pick<
  RunFacts,
  'run' | 'failures' | 'failedTaskIds' | 'failedByTask' | 'tasks' | 'runsBefore'
>;

export type FailureParts = { failures: Failure[]; logs: ReadonlyMap<ListedInstance, ReadTail> };

export async function readFailures(
  sources: DiagnosisSources,
  facts: FailureFacts,
  logTailLines: number,
): Promise<FailureParts> {
  const { scope } = sources;
  const { failures, run } = facts;
  const keys = failures.map((one) => ({ run: run.id, taskId: one.task_id, mapIndex: one.map_index }));
  const [tails, rendered, tries, counts, same, upstream] = await Promise.all([
    inGroups(failures, LOGS_AT_ONCE, (one) => readTail(sources.logs, logKeyOf(sources.tenantId, one), logTailLines)),
    findRenderedFields(scope, keys),
    readFailedTries(sources, failures),
    countMapped(sources, facts),
    findSameInstances(
      scope,
      facts.runsBefore.map(({ id }) => id),
      failures,
    ),
    readUpstream(sources, facts),
  ]);
  const versions = await versionsByNumber(sources, facts, [...failures, ...same]);
  const shown = shareBudget(
    tails.map(({ lines }) => lines),
    logTailLines * LOG_LENGTH_PER_LINE,
  );
  const fields = new Map(rendered.map((row) => [`${row.mapIndex} ${row.taskId}`, row.fields]));
  const blocked = blockedByVersion(facts);
  const seen = new Set<string>();
  const built = failures.map((instance, index): Failure => {
    const isFirst = !seen.has(instance.task_id);
    seen.add(instance.task_id);
    const tail = tails[index] ?? { lines: [], earlierErrors: [], error: null, note: null };
    const lines = shown[index] ?? [];
    const task = facts.tasks.get(instance.version_number)?.get(instance.task_id);
    const cause = structuredCause(instance, tail.error);
    return {
      ...attemptOf(instance, task),
      cause,
      failed_tries: tries.get(instance) ?? [],
      instances: isFirst ? (counts.get(instance.task_id) ?? null) : null,
      rendered_fields: renderedFields(fields.get(`${instance.map_index} ${instance.task_id}`)),
      blocks: blocked(instance),
      // Further instances of a mapped task have the same upstream tasks.
      upstream: isFirst ? (upstream.get(instance.task_id) ?? []) : [],
      history: failureHistoryOf({
        instance,
        run,
        before: facts.runsBefore,
        same: new Map(
          same
            .filter((one) => one.task_id === instance.task_id && one.map_index === instance.map_index)
            .map((one) => [one.run, one]),
        ),
        versionOf: (number) => versions.get(number) ?? null,
      }),
      advice: cause ? adviceFor(cause.code, cause.exception) : [],
      log: {
        earlier_errors: tail.earlierErrors,
        lines,
        lines_left_out: tail.lines.length - lines.length,
        note: tail.note,
      },
    };
  });
  return { failures: built, logs: new Map(failures.map((one, index) => [one, tails[index] as ReadTail])) };
}

type OfAttempt = Omit<
  Failure,
  'cause' | 'failed_tries' | 'instances' | 'rendered_fields' | 'blocks' | 'upstream' | 'history' | 'advice' | 'log'
>;

const attemptOf = (instance: ListedInstance, task: SpecTask | undefined): OfAttempt => ({
  task_id: safeText(instance.task_id),
  map_index: instance.map_index,
  operator: safeTextOrNull(task?.operatorName ?? instance.operator, 100),
  state: instance.state,
  try_number: instance.try_number,
  max_tries: instance.max_tries,
  infrastructure_retries: instance.infrastructure_retries,
  group_retries: instance.group_retries,
  next_try_at: instance.state === 'up_for_retry' ? instance.due_at : null,
  start_date: instance.start_date,
  end_date: instance.end_date,
  duration: instance.duration,
  hostname: safeTextOrNull(instance.hostname || null),
  version_number: instance.version_number,
});

/** Reads failed earlier tries of some instances, oldest first, without their current try. */
export async function readFailedTries(
  { scope }: Pick<DiagnosisSources, 'scope'>,
  instances: readonly ListedInstance[],
): Promise<Map<ListedInstance, FailedTry[]>> {
  const again = instances.filter((instance) => instance.try_number > 1).slice(0, MAX_TRIES_READ);
  const read = await Promise.all(
    again.map(async (one) => {
      const rows = await listTries(scope, { run: one.run, taskId: one.task_id, mapIndex: one.map_index });
      const failed = rows.filter((row) => row.state === 'failed' && row.try_number < one.try_number);
      return failed.map((row) => ({ try_number: row.try_number, end_date: row.end_date, cause: shortCause(row) }));
    }),
  );
  return new Map(again.map((one, index) => [one, read[index] ?? []]));
}

async function countMapped({ scope }: DiagnosisSources, facts: FailureFacts) {
  const mapped = [...new Set(facts.failures.filter((one) => one.map_index >= 0).map((one) => one.task_id))];
  const counted = mapped.slice(0, MAX_MAPPED_COUNTED);
  const totals = await Promise.all(
    counted.map((taskId) => countInstances(scope, { run: facts.run.id, taskIds: [taskId] })),
  );
  return new Map(
    counted.map((id, index) => [id, { total: totals[index] ?? 0, failed: facts.failedByTask.get(id) ?? 0 }]),
  );
}

/** Tasks that failed themselves are omitted, because they are reported anyway. */
async function readUpstream(sources: DiagnosisSources, facts: FailureFacts): Promise<Map<string, Failure['upstream']>> {
  const before = new Map<string, string[]>();
  for (const { task_id: id, version_number: version } of facts.failures) {
    const tasks = facts.tasks.get(version);
    const ids = tasks?.get(id)?.upstream_task_ids ?? [];
    // No single instance of a mapped task is the relevant one.
    before.set(
      id,
      ids.filter((one) => tasks?.get(one)?.isMapped === false && !facts.failedTaskIds.has(one)),
    );
  }
  const wanted = [...new Set([...before.values()].flat())].slice(0, MAX_UPSTREAM);
  if (wanted.length === 0) return new Map();
  const rows = (await findInstancesOfTasks(sources.scope, facts.run.id, wanted)).filter((row) => row.map_index === -1);
  const lines = await Promise.all(rows.map((row) => fewLines(sources, row)));
  const found = new Map(
    rows.map((row, index) => [
      row.task_id,
      { task_id: safeText(row.task_id), state: row.state, last_lines: lines[index] ?? [] },
    ]),
  );
  return new Map([...before].map(([id, ids]) => [id, ids.flatMap((one) => found.get(one) ?? [])]));
}

export async function fewLines({ logs, tenantId }: DiagnosisSources, row: ListedInstance): Promise<string[]> {
  const { lines } = await readTail(logs, logKeyOf(tenantId, row), FEW_LINES);
  return lines.map((line) => capText(line, SHORT_LINE));
}

async function versionsByNumber(
  { scope }: DiagnosisSources,
  { run }: FailureFacts,
  rows: readonly { version_number: number }[],
): Promise<Map<number, AuthoredVersion>> {
  const numbers = [...new Set(rows.map((row) => row.version_number))];
  const found = await listVersionsByNumber(scope, run.dag_id, numbers);
  return new Map(
    found.map((version) => [
      version.version_number,
      { ...version, author: safeTextOrNull(version.author, MAX_AUTHOR) },
    ]),
  );
}

/** Omits empty fields and masks values under sensitive names. */
function renderedFields(text: string | undefined): string | null {
  if (text === undefined) return null;
  const fields = parseExact(text);
  if (typeof fields !== 'object' || fields === null) return null;
  const said = Object.entries(fields).filter(([, value]) => !isEmpty(value));
  if (said.length === 0) return null;
  return safeText(JSON.stringify(redactValue(Object.fromEntries(said))), MAX_RENDERED_LENGTH);
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

function blockedByVersion(facts: FailureFacts): (instance: ListedInstance) => Failure['blocks'] {
  const byVersion = new Map(
    [...facts.tasks].map(([version, tasks]) => [version, blockedBy([...tasks.values()], facts.failedTaskIds)]),
  );
  return ({ task_id: taskId, version_number: version }) => {
    const blocked = byVersion.get(version);
    if (!blocked) return null;
    const ids = blocked.get(taskId) ?? [];
    return { total: ids.length, task_ids: ids.slice(0, MAX_BLOCKED_IDS).map((id) => safeText(id)) };
  };
}

async function inGroups<In, Out>(items: readonly In[], size: number, read: (item: In) => Promise<Out>): Promise<Out[]> {
  const found: Out[] = [];
  for (let from = 0; from < items.length; from += size) {
    found.push(...(await Promise.all(items.slice(from, from + size).map((item) => read(item)))));
  }
  return found;
}
