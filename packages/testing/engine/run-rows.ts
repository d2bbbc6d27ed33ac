/**
 * Runs and task instances as rows, for tests of what reads them: put straight into the tables, in any state, without a
 * scheduler. What is not named gets a plain value.
 */
import type { Insertable } from 'kysely';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { registerVersion } from '@svc/server/registry/register-version.ts';
import type { TenantDb } from '@svc/server/db/database.ts';
import type { StateCounts, TenantTables } from '@svc/server/db/schema.ts';
import { countedAs } from '@svc/server/engine/advance/run-work.ts';
import { sampleDag } from './sample-dag.ts';

type RunValues = Omit<Insertable<TenantTables['dag_runs']>, 'tenant_id' | 'id' | 'dag_id' | 'run_id'>;
type InstanceValues = Omit<Insertable<TenantTables['task_instances']>, 'tenant_id' | 'run' | 'dag_id'>;
type HistoryValues = Omit<
  Insertable<TenantTables['task_instance_history']>,
  'tenant_id' | 'run' | 'dag_id' | 'task_id' | 'map_index'
>;

/** One task instance; `history` are its earlier tries. */
export type InstanceRows = Partial<InstanceValues> & { task_id: string; history?: readonly Partial<HistoryValues>[] };

/** A DAG of independent tasks, registered as its first version. */
export async function insertDag(
  db: TenantDb,
  {
    dagId,
    taskIds = ['task'],
    text = 'sample',
    dag = {},
  }: { dagId: string; taskIds?: readonly string[]; text?: string; dag?: Partial<CompiledSpec['dag']> },
): Promise<void> {
  const spec = structuredClone(sampleDag({ dagId, taskId: 'task', text })) as CompiledSpec;
  const [task] = spec.tasks;
  const [group] = spec.groups;
  if (!task || !group) throw new Error('unreachable: the sample has one task, in one group');
  spec.tasks = taskIds.map((taskId) => ({ ...task, task_id: taskId, label: taskId }));
  Object.assign(spec.dag, dag);
  spec.groups = [{ ...group, children: taskIds.map((id) => ({ kind: 'task', id })) }];
  const actor = { name: 'test', clientIp: '127.0.0.1', requestId: 'test' };
  const registration = await registerVersion(db, { dagId, artifact: { spec }, actor });
  if (registration.kind === 'refused') throw new Error(registration.problems.join('\n'));
}

/** A run of an existing DAG with the given instances; answers with its key (`dag_runs.id`). */
export async function insertRun(
  db: TenantDb,
  input: { dagId: string; runId: string; instances?: readonly InstanceRows[] } & Partial<RunValues>,
): Promise<number> {
  const { dagId, runId, instances = [], ...values } = input;
  const { id: run } = await db
    .insertInto('dag_runs')
    .values({
      dag_id: dagId,
      run_id: runId,
      run_type: 'manual',
      state: 'running',
      run_after: '2026-01-02T03:04:05.000006Z',
      triggered_by: 'test',
      version_number: 1,
      state_counts: JSON.stringify(countsOf(instances)),
      ...values,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const instance of instances) await insertInstance(db, { run, dagId, instance });
  return run;
}

export async function insertInstance(
  db: TenantDb,
  { run, dagId, instance }: { run: number; dagId: string; instance: InstanceRows },
): Promise<void> {
  const { history = [], ...values } = instance;
  const common = {
    run,
    dag_id: dagId,
    max_tries: 0,
    operator: '_PythonDecoratedOperator',
    pool: 'default_pool',
    pool_slots: 1,
    priority_weight: 1,
    queue: 'default',
    version_number: 1,
  };
  const { id, map_index: mapIndex } = await db
    .insertInto('task_instances')
    .values({ ...common, state: 'success', try_number: 1, upstream: '0', ...values })
    .returning(['id', 'map_index'])
    .executeTakeFirstOrThrow();
  for (const [index, earlier] of history.entries()) {
    const attempt = { id, hostname: '', state: 'failed' as const, try_number: index + 1, ...earlier };
    await db
      .insertInto('task_instance_history')
      .values({ ...common, task_id: values.task_id, map_index: mapIndex, ...attempt })
      .execute();
  }
}

function countsOf(instances: readonly InstanceRows[]): StateCounts {
  const counts: StateCounts = {};
  for (const { state = 'success' } of instances) counts[countedAs(state)] = (counts[countedAs(state)] ?? 0) + 1;
  return counts;
}
