/** The smallest compiled spec there is: one task, no schedule. Made from the schema, so that it follows it. */
import { CompiledSpec } from '@svc/spec/schema.ts';
import { sampleOf } from '../server/json-schema-samples.ts';
import type { JsonSchema } from '../server/json-schema-samples.ts';

export function sampleDag({ dagId, taskId, text }: { dagId: string; taskId: string; text: string }): object {
  const { tasks, groups } = CompiledSpec.properties;
  return {
    ...least(CompiledSpec, { dag_id: dagId, description: text, doc_md: text, text }),
    tasks: [least(tasks.items, { task_id: taskId, label: taskId, group_id: null })],
    groups: [least(groups.items, { group_id: null, parent_id: null, children: [{ kind: 'task', id: taskId }] })],
  };
}

function least(schema: object, values: Record<string, unknown>): object {
  const named = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
  return sampleOf(schema as JsonSchema, { size: 'least', resolve: () => ({}), named }) as object;
}
