/** What a diagnosis needs of the tasks of a version. */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { ModelTask } from './models.ts';
import type { SkipTask } from './skips.ts';

export type SpecTask = SkipTask & ModelTask & { readonly operatorName: string; readonly isMapped: boolean };

export const specTasks = (spec: CompiledSpec): ReadonlyMap<string, SpecTask> =>
  new Map(
    spec.tasks.map((task) => [
      task.task_id,
      {
        task_id: task.task_id,
        upstream_task_ids: task.upstream_task_ids,
        downstream_task_ids: task.downstream_task_ids,
        is_setup: task.is_setup,
        policy: { trigger_rule: task.policy.trigger_rule },
        operator: { module: task.operator.module, name: task.operator.name },
        arguments: task.arguments,
        skipsDownstream: task.operator.skips_downstream,
        operatorName: task.operator.operator_name,
        isMapped: task.mapping !== null,
      },
    ]),
  );
