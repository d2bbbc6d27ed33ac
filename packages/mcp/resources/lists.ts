/** The resources dag://list and task://instances: all entries of a list, several pages at a time. */
import type { TaskInstance } from '@svc/client/wire-types.ts';
import type { ControlPlane } from '../control-plane/client.ts';
import { runIds } from '../control-plane/ids.ts';
import type { RunRef } from '../control-plane/ids.ts';
import { createLimit } from '../control-plane/limit.ts';
import { MAX_RESOURCE_LENGTH } from '@svc/spec/text/caps.ts';
import { safeText } from '@svc/spec/text/safe-text.ts';
import { compactDag } from '../tools/list-dags.ts';

const PAGE = 1_000;
const MAX_ENTRIES = 10_000;
const PAGES_AT_ONCE = 3;

type Listed = { total: number; is_complete: boolean };

type Page = { limit: number; offset?: number };

async function readAll<Answer extends { total_entries: number | null }, Entry>(
  read: (page: Page) => Promise<Answer>,
  entriesOf: (answer: Answer) => readonly Entry[],
): Promise<{ entries: Entry[]; total: number }> {
  const page = (offset: number) => read({ limit: PAGE, ...(offset > 0 && { offset }) });
  const first = await page(0);
  const total = first.total_entries ?? 0; // null only when paging by cursor
  const few = createLimit(PAGES_AT_ONCE);
  const offsets: number[] = [];
  for (let offset = PAGE; offset < Math.min(total, MAX_ENTRIES); offset += PAGE) offsets.push(offset);
  const rest = await Promise.all(offsets.map((offset) => few.run(() => page(offset))));
  return { entries: [first, ...rest].flatMap(entriesOf), total };
}

/** Returns as many entries as fit into a resource. */
function fitting<T>(entries: readonly T[], total: number): { shown: T[] } & Listed {
  let left = MAX_RESOURCE_LENGTH;
  const end = entries.findIndex((entry) => (left -= JSON.stringify(entry).length + 1) < 0);
  const shown = end === -1 ? [...entries] : entries.slice(0, end);
  return { shown, total, is_complete: shown.length >= total };
}

export async function dagList(controlPlane: ControlPlane) {
  const { entries, total } = await readAll(
    (query) => controlPlane.get('/api/v2/dags', { query: { ...query, with_newest_runs: true } }),
    (answer) => answer.dags,
  );
  const { shown, ...listed } = fitting(entries.map(compactDag), total);
  return { dags: shown, ...listed };
}

export async function instanceList(controlPlane: ControlPlane, ref: RunRef) {
  const path = runIds(ref);
  const { entries, total } = await readAll(
    (query) => controlPlane.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances', { path, query }),
    (answer) => answer.task_instances,
  );
  const { shown, ...listed } = fitting(entries.map(compactInstance), total);
  return { dag_id: ref.dagId, run_id: ref.runId, task_instances: shown, ...listed };
}

const compactInstance = (instance: TaskInstance) => ({
  task_id: safeText(instance.task_id),
  ...(instance.map_index >= 0 && { map_index: instance.map_index }),
  state: instance.state,
  try_number: instance.try_number,
  duration_seconds: instance.duration,
  ...(instance.failure_reason !== null && { failure_reason: safeText(instance.failure_reason, 200) }),
  ...(instance.failure_detail && { failure_detail: safeText(instance.failure_detail, 200) }),
  ...(instance.wait_reason !== null && { wait_reason: safeText(instance.wait_reason, 200) }),
});
