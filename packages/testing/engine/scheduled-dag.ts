/** A DAG that can really be scheduled and run, for tests of the scheduler: unpaused, with one task that needs a worker. */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import { registerVersion } from '@svc/server/registry/register-version.ts';
import type { TenantDb } from '@svc/server/db/database.ts';
import { sampleDag } from './sample-dag.ts';

type TaskSpec = CompiledSpec['tasks'][number];
type TaskChanges = Partial<Pick<TaskSpec, 'outlets' | 'inlets'>> & { dependsOnPast?: boolean; isEmpty?: boolean };

export type ScheduledDag = {
  dagId: string;
  schedule?: TimetableSpec;
  /** Overrides of the `dag` section. */
  dag?: Partial<CompiledSpec['dag']>;
  /** By task id; default: one plain task `task`. */
  tasks?: Record<string, TaskChanges>;
  params?: CompiledSpec['params'];
  assets?: CompiledSpec['assets'];
};

const POLICY = {
  depends_on_past: false,
  wait_for_downstream: false,
  wait_for_past_depends_before_skipping: false,
  pool: 'default_pool',
  queue: 'default',
};

export function scheduledSpec(input: ScheduledDag): CompiledSpec {
  const spec = structuredClone(sampleDag({ dagId: input.dagId, taskId: 'task', text: 'x' })) as CompiledSpec;
  const [task] = spec.tasks;
  const [group] = spec.groups;
  if (!task || !group) throw new Error('unreachable: the sample has one task, in one group');
  const tasks = Object.entries(input.tasks ?? { task: {} });
  return {
    ...spec,
    schedule: input.schedule ?? { type: 'null' },
    params: input.params ?? [],
    assets: input.assets ?? spec.assets,
    dag: {
      ...spec.dag,
      display_name: input.dagId,
      timezone: 'UTC',
      catchup: false,
      max_active_runs: 16,
      max_active_tasks: 16,
      is_paused_upon_creation: false,
      fail_fast: false,
      has_task_concurrency_limits: false,
      ...input.dag,
    },
    tasks: tasks.map(([taskId, { dependsOnPast = false, isEmpty = false, ...changes }]) => ({
      ...task,
      task_id: taskId,
      label: taskId,
      display_name: taskId,
      is_setup: false,
      is_teardown: false,
      on_failure_fail_dagrun: false,
      operator: { ...task.operator, is_sensor: false, is_empty: isEmpty, skips_downstream: false },
      policy: { ...task.policy, ...POLICY, depends_on_past: dependsOnPast },
      ...changes,
    })),
    groups: [{ ...group, children: tasks.map(([id]) => ({ kind: 'task', id })) }],
  };
}

const ACTOR = { name: 'test', clientIp: '127.0.0.1', requestId: 'test' };

/** `now`: as if it had been done at that moment, from which the next run is worked out. */
export async function registerScheduledDag(db: TenantDb, input: ScheduledDag, now?: string): Promise<void> {
  const registration = await registerVersion(db, {
    dagId: input.dagId,
    artifact: { spec: scheduledSpec(input) },
    actor: ACTOR,
    ...(now !== undefined && { now: new Date(now) }),
  });
  if (registration.kind === 'refused') throw new Error(registration.problems.join('\n'));
}
