/**
 * The resource dag://spec: the compiled spec of the newest version. It omits the source, which is another resource, and
 * masks values under sensitive names. A spec that is too long for a model becomes an outline: the graph with as many
 * tasks as fit.
 */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { ControlPlane } from '../control-plane/client.ts';
import { MAX_RESOURCE_LENGTH } from '@svc/spec/text/caps.ts';
import { redactValue } from '@svc/spec/text/redact.ts';
import { sanitizeValue } from '@svc/spec/text/sanitize.ts';

/** Leaves room for the text around the spec. */
const MAX_LENGTH = MAX_RESOURCE_LENGTH - 4_096;

export async function compiledSpec(controlPlane: ControlPlane, dagId: string): Promise<Record<string, unknown>> {
  const path = { dag_id: dagId };
  const spec = (await controlPlane.get('/api/v2/dags/{dag_id}/spec', { path })) as CompiledSpec;
  const full = cleaned({
    ...spec,
    source: { ...spec.source, text: `see dag://source/${dagId}` },
    files: namesOf(spec),
  });
  if (JSON.stringify(full).length <= MAX_LENGTH) return { form: 'full', is_complete: true, spec: full };
  return outline(spec);
}

/**
 * `secrets` lists the names of connections and variables that a DAG uses. These are not secrets, although the key is a
 * sensitive name.
 */
function cleaned({ secrets, ...rest }: { secrets?: unknown } & Record<string, unknown>): Record<string, unknown> {
  const { ...safe } = redactValue(sanitizeValue(rest)) as Record<string, unknown>;
  return secrets === undefined ? safe : { ...safe, secrets: sanitizeValue(secrets) };
}

const namesOf = ({ files }: CompiledSpec) => files.map(({ path, sha256 }) => ({ path, sha256, text: 'left out' }));

function outline(spec: CompiledSpec): Record<string, unknown> {
  let left = MAX_LENGTH;
  const tasks: Record<string, unknown>[] = [];
  for (const task of spec.tasks) {
    const part = cleaned(taskOutline(task));
    left -= JSON.stringify(part).length + 1;
    if (left < 0) break;
    tasks.push(part);
  }
  return {
    form: 'outline',
    is_complete: tasks.length === spec.tasks.length,
    task_count: spec.tasks.length,
    spec: { schema_version: spec.schema_version, dag: { dag_id: spec.dag.dag_id }, tasks },
  };
}

const taskOutline = (task: CompiledSpec['tasks'][number]) => ({
  task_id: task.task_id,
  operator: task.operator.operator_name,
  trigger_rule: task.policy.trigger_rule,
  retries: task.policy.retries,
  downstream_task_ids: task.downstream_task_ids,
  ...(task.mapping !== null && { is_mapped: true }),
  ...(task.is_setup && { is_setup: true }),
  ...(task.is_teardown && { is_teardown: true }),
});
