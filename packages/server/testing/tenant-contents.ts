/**
 * One of everything in a tenant, for tests that are generated from the API document. An operation with a new path parameter
 * needs a value here: make the object, and return its id under the name of the parameter.
 */
import { insertRun } from './run-rows.ts';
import { sampleDag } from './sample-dag.ts';
import { ADMIN_EMAIL, TEST_PASSWORD } from './test-server.ts';
import type { TestServer } from './test-server.ts';

export type TenantContents = {
  /** By name of a parameter or body property: ids of the objects made here, and what no schema can tell. */
  values: Record<string, unknown>;
  /** Text that is part of this tenant's objects and of nothing else: who sees it sees into the tenant. */
  marker: string;
};

export async function fillTenant(server: TestServer, token: string, name: string): Promise<TenantContents> {
  const marker = `marker-of-${name}-${crypto.randomUUID()}`;
  const create = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await server.call(path, { method: 'POST', token, body });
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return answer.json();
  };

  const user = await create('/api/v2/users', { email: `${marker}@example.com`, password: TEST_PASSWORD, roles: [] });
  const connectionId = `connection-${name}`;
  await create('/api/v2/connections', { connection_id: connectionId, conn_type: 'http', host: marker });
  const variableKey = `variable-${name}/part`; // a slash, because keys may have some
  await create('/api/v2/variables', { key: variableKey, value: marker });
  const poolName = `pool-${name}`;
  await create('/api/v2/pools', { name: poolName, slots: 3, description: marker });
  const dagId = `dag-${name}`;
  const taskId = 'task';
  const spec = sampleDag({ dagId, taskId, text: marker });
  const version = await create(`/api/v2/dags/${dagId}/dagVersions`, { spec });
  // Straight into the tables, because it must be over: an operation that waits for its end has nothing to wait for.
  const runId = `run:${crypto.randomUUID()}+~`; // with characters that are special in paths and queries
  await insertRun(server.db.tenant(tenantOf(token)), {
    dagId,
    runId,
    state: 'success',
    note: marker,
    start_date: '2026-01-02T03:04:05Z',
    end_date: '2026-01-02T03:04:06Z',
    instances: [{ task_id: taskId, note: marker }],
  });
  const importError = await create('/api/v2/importErrors', {
    filename: `${marker}.py`,
    bundle_name: 'dags',
    stack_trace: marker,
  });
  const { event_logs: entries } = (await server.call('/api/v2/eventLogs?event=post_user&limit=1', { token })).json<{
    event_logs: { event_log_id: number }[];
  }>();

  return {
    marker,
    values: {
      user_id: user['id'],
      connection_id: connectionId,
      variable_key: variableKey,
      key: variableKey,
      pool_name: poolName,
      dag_id: dagId,
      dag_id_pattern: dagId,
      dag_run_id: runId,
      task_id: taskId,
      version_number: version['version_number'],
      spec: sampleDag({ dagId, taskId, text: 'another text' }),
      import_error_id: importError['import_error_id'],
      event_log_id: entries[0]?.event_log_id,
      ...OTHER_VALUES,
      // Another one each time it is asked for: a user can be created only once.
      get email() {
        return `${crypto.randomUUID()}@example.com`;
      },
    },
  };
}

/** The tenant a token is for. */
function tenantOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { tenant_id: string };
  return claims.tenant_id;
}

const OTHER_VALUES = {
  roles: ['viewer'],
  username: ADMIN_EMAIL,
  password: TEST_PASSWORD,
  tenant: 'default',
  current_password: 'not the password, or the callers would lose their sessions',
  team_name: null,
};
