/** What clearing does to instances. What it means for their run is in clear.ts. */
import { deleteOutputs, resetInstances } from '../sql/run-edits.ts';
import { keepClearedTries } from '../sql/try-history.ts';
import type { InstanceRow } from '../../db/schema.ts';
import { keyOf, move, supersede } from './edit-run.ts';
import type { OpenRun } from './edit-run.ts';
import { collapseTasks, columnsFromSpec } from './rebuild-instances.ts';

/** Clears rows that are locked. Returns the tasks whose waiting instances must be counted again. */
export async function clearRows(open: OpenRun, rows: readonly InstanceRow[]): Promise<Set<string>> {
  const { trx, ref, graph } = open;
  const keys = rows.map(keyOf);
  for (const row of rows) {
    supersede(open, row);
    move(open, row.state, null);
  }
  await keepClearedTries(
    trx,
    keys.map((key) => ({ ...ref, ...key })),
  );
  await deleteOutputs(trx, ref, { keys, of: 'cleared' });
  await resetInstances(
    trx,
    rows.map((row) => {
      const task = graph.blueprint.tasks.get(row.task_id);
      if (!task) throw new Error(`unreachable: ${row.task_id} was cleared and is not in the graph`);
      const tryNumber = triesOf(row);
      return {
        ...row,
        ...columnsFromSpec(task),
        try_number: tryNumber,
        max_tries: tryNumber + task.spec.policy.retries,
        infrastructure_retries: 0,
        group_retries: 0,
        version_number: open.run.version_number,
      };
    }),
  );
  await collapseTasks(open, keys);
  const cleared = new Set(rows.map((row) => row.task_id));
  const children = [...cleared].flatMap((taskId) => graph.blueprint.tasks.get(taskId)?.downstream ?? []);
  return new Set([...cleared, ...children]);
}

/** A try that was handed out but never started does not count: its number is free. */
const triesOf = (row: InstanceRow): number =>
  row.state === 'queued' && row.first_poke_at === null ? Math.max(0, row.try_number - 1) : row.try_number;
