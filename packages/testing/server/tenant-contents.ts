/**
 * One of everything in a tenant, for tests that are generated from the API document. An operation with a new path parameter
 * needs a value here: make the object, and return its id under the name of the parameter.
 */
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { insertBundle } from '@svc/server/db/bundles/bundles.ts';
import { insertDeployment } from '@svc/server/db/bundles/deployments.ts';
import { recordWorker } from '@svc/server/db/workers/workers.ts';
import { askOnce } from '@svc/server/db/task-instances/hitl.ts';
import { createDiskLogStore } from '@svc/server/logs/disk-store.ts';
import type { LogKey } from '@svc/server/logs/log-key.ts';
import { putAssetState } from '@svc/server/db/assets/asset-states.ts';
import { putTaskState } from '@svc/server/db/task-instances/task-states.ts';
import { createXcomStore } from '@svc/server/xcom/store.ts';
import { insertRun } from '../engine/run-rows.ts';
import { sampleDag } from '../engine/sample-dag.ts';
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
  const serviceAccount = `account-${crypto.randomUUID()}`; // no marker: a refusal names what was asked for
  await create('/api/v2/serviceAccounts', { name: serviceAccount, role: 'viewer' });
  const workerToken = await create('/api/v2/workerTokens', { queues: ['gpu'], comment: marker });
  const workerId = crypto.randomUUID();
  await recordWorker(server.db, {
    id: workerId,
    tenantId: tenantOf(token),
    kind: 'remote',
    name: marker,
    pool: 'gpu',
    queues: ['gpu'],
    state: 'idle',
    slots: 1,
    owner: 'another process',
  });
  const rule = await create('/api/v2/alerts/rules', {
    name: `rule-${crypto.randomUUID()}`,
    events: ['failed'],
    channel: 'webhook',
    connection_id: NO_CONNECTION,
    target: marker,
  });
  const alertId = await openAlert(server, tenantOf(token), { ruleId: String(rule['id']), marker });
  // Not of this one: what the platform's administrators see of another.
  const tenantName = `other-${crypto.randomUUID()}`;
  await ensureTenant(server.db.shared, tenantName);
  const connectionId = `connection-${name}`;
  await create('/api/v2/connections', { connection_id: connectionId, conn_type: 'http', host: marker });
  const variableKey = `variable-${name}/part`; // a slash, because keys may have some
  await create('/api/v2/variables', { key: variableKey, value: marker });
  const poolName = `pool-${name}-${crypto.randomUUID()}`;
  await create('/api/v2/pools', { name: poolName, slots: 3, description: marker });
  const dagId = `dag-${name}`;
  const taskId = 'task';
  const spec = withAssets(sampleDag({ dagId, taskId, text: marker }), name);
  const version = await create(`/api/v2/dags/${dagId}/dagVersions`, { spec });
  const dag = (await server.call(`/api/v2/dags/${dagId}`, { token })).json();
  const assets = await fillAssets(server, token, { dagId, name });
  await fillStateStore(server, { token, assetId: Number(assets['asset_id']), key: variableKey, marker });
  const backfillId = await openBackfill(server, token, dagId);
  // Straight into the tables, because it must be over: an operation that waits for its end has nothing to wait for.
  const runId = `run:${crypto.randomUUID()}+~`; // with characters that are special in paths and queries
  const run = await insertRun(server.db.tenant(tenantOf(token)), {
    dagId,
    runId,
    state: 'success',
    version_number: version['version_number'] as number,
    note: marker,
    start_date: '2026-01-02T03:04:05Z',
    end_date: '2026-01-02T03:04:06Z',
    instances: [{ task_id: taskId, version_number: version['version_number'] as number, pool: poolName, note: marker }],
  });
  const logKey = { tenantId: tenantOf(token), dagId, runId, taskId, mapIndex: -1, tryNumber: 1 };
  await fillTry(server, { logKey, run, key: variableKey, marker });
  await askHitlRequest(server, { logKey, run, marker });
  const importError = await create('/api/v2/importErrors', {
    filename: `${marker}.py`,
    bundle_name: 'dags',
    stack_trace: marker,
  });
  const bundleName = await fillBundle(server, token, marker);
  const { event_logs: entries } = (await server.call('/api/v2/eventLogs?event=post_user&limit=1', { token })).json<{
    event_logs: { event_log_id: number }[];
  }>();

  return {
    marker,
    values: {
      user_id: user['id'],
      service_account: serviceAccount,
      worker_token_id: workerToken['id'],
      worker_id: workerId,
      rule_id: rule['id'],
      alert_id: alertId,
      quiet_timezone: 'UTC',
      queues: ['gpu'],
      tenant_name: tenantName,
      connection_id: connectionId,
      variable_key: variableKey,
      key: variableKey,
      pool_name: poolName,
      pool: poolName,
      dag_id: dagId,
      dag_id_pattern: dagId,
      dag_run_id: runId,
      run_id: runId,
      file_token: dag['file_token'],
      task_id: taskId,
      group_id: GROUP,
      map_index: logKey.mapIndex,
      try_number: logKey.tryNumber,
      xcom_key: variableKey,
      version_number: version['version_number'],
      spec: withAssets(sampleDag({ dagId, taskId, text: 'another text' }), name),
      ...assets,
      backfill_id: backfillId,
      reprocess_behavior: 'failed', // the only one for tasks that depend on their past
      import_error_id: importError['import_error_id'],
      event_log_id: entries[0]?.event_log_id,
      expires_at: null, // a value of a state store: one that has expired is gone
      bundle: bundleName,
      deployment: 1,
      ...OTHER_VALUES,
      // Another one each time it is asked for: a user can be created only once.
      get email() {
        return `${crypto.randomUUID()}@example.com`;
      },
      get name() {
        return crypto.randomUUID(); // a pool, a service account and a tenant as well
      },
      get admin_email() {
        return `${crypto.randomUUID()}@example.com`;
      },
    },
  };
}

/** A test of a rule sends nothing, because there is no such connection. */
const NO_CONNECTION = 'no-such-connection';

async function openAlert(
  server: TestServer,
  tenantId: string,
  { ruleId, marker }: { ruleId: string; marker: string },
): Promise<string> {
  const { id } = await server.db
    .tenant(tenantId)
    .insertInto('alerts')
    .values({
      rule_id: ruleId,
      fingerprint: marker,
      event: 'failed',
      dag_id: marker,
      sent_text: marker,
      opened_at: new Date(),
      last_at: new Date(),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** The same DAG with a schedule of time and assets, and with a task that writes one of them. */
function withAssets(spec: object, name: string): object {
  const { tasks } = spec as { tasks: object[] };
  const asset = { type: 'asset', name: `asset-${name}`, uri: `x://asset-${name}` };
  const other = { type: 'asset_alias', name: `alias-${name}` };
  const timetable = { type: 'cron_trigger', expression: '0 0 * * *', timezone: 'UTC' };
  const schedule = { type: 'asset_or_time', timetable, assets: { type: 'asset_all', objects: [asset, other] } };
  const grouped = { ...spec, groups: inOneGroup(spec), schedule };
  return { ...grouped, tasks: tasks.map((task) => ({ ...task, group_id: GROUP, outlets: [asset] })) };
}

const GROUP = 'group';

function inOneGroup(spec: object): object[] {
  const { groups } = spec as { groups: { group_id: string | null; parent_id: string | null; children: object[] }[] };
  const [root] = groups;
  if (!root) throw new Error('unreachable: there is a root group');
  return [
    { ...root, children: [{ kind: 'group', id: GROUP }] },
    { ...root, group_id: GROUP, parent_id: null, children: root.children },
  ];
}

/** Ids of the DAG's asset and alias, with an event that waits for the DAG to run. */
async function fillAssets(
  server: TestServer,
  token: string,
  { dagId, name }: { dagId: string; name: string },
): Promise<Record<string, unknown>> {
  const db = server.db.tenant(tenantOf(token));
  const asset = await db
    .selectFrom('assets')
    .select('id')
    .where('name', '=', `asset-${name}`)
    .executeTakeFirstOrThrow();
  const alias = await db
    .selectFrom('asset_aliases')
    .select('id')
    .where('name', '=', `alias-${name}`)
    .executeTakeFirstOrThrow();
  const event = await db
    .insertInto('asset_events')
    .values({ asset_id: asset.id })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db.insertInto('asset_queue').values({ dag_id: dagId, event_id: event.id, asset_id: asset.id }).execute();
  return { asset_id: asset.id, asset_alias_id: alias.id };
}

async function fillStateStore(
  server: TestServer,
  { token, assetId, key, marker }: { token: string; assetId: number; key: string; marker: string },
): Promise<void> {
  const tenantId = tenantOf(token);
  const state = { key, value: JSON.stringify(marker), maxKeys: 10, writer: 'api' } as const;
  await putAssetState(server.db.tenant(tenantId), { tenantId, assetId }, state);
}

/** What a task leaves behind: a line in its log, a value for other tasks, one for its next try. */
async function fillTry(
  server: TestServer,
  { logKey, run, key, marker }: { logKey: LogKey; run: number; key: string; marker: string },
): Promise<void> {
  const logs = createDiskLogStore({ dir: server.config.logs.dir });
  await logs.append(logKey, 0, Buffer.from(`${JSON.stringify({ event: marker })}\n`));
  await logs.close();
  await createXcomStore({ maxBytes: 1_000 }).set(server.db.tenant(logKey.tenantId), { ...logKey, run }, [
    { key, value: JSON.stringify(marker) },
  ]);
  const state = { key, value: JSON.stringify(marker), expiry: 'never', maxKeys: 10 } as const;
  await putTaskState(server.db.tenant(logKey.tenantId), { ...logKey, run }, state);
}

async function askHitlRequest(
  server: TestServer,
  { logKey, run, marker }: { logKey: LogKey; run: number; marker: string },
): Promise<void> {
  const { dagId, tenantId, ...key } = logKey;
  await askOnce(
    server.db.shared,
    { tenantId, run, taskId: key.taskId, mapIndex: key.mapIndex, tryNumber: key.tryNumber },
    {
      dagId,
      subject: marker,
      body: marker,
      options: ['yes', 'no'],
      defaults: null,
      multiple: false,
      params: { field: { value: marker, description: null, schema: {} } },
      assignedUsers: [],
      timeout: null,
    },
  );
}

/** Of this DAG; one that is still open from another time is over now, because there is only one at a time. */
async function openBackfill(server: TestServer, token: string, dagId: string): Promise<number> {
  const db = server.db.tenant(tenantOf(token));
  await db.updateTable('backfills').set({ completed_at: new Date() }).where('dag_id', '=', dagId).execute();
  const { id } = await db
    .insertInto('backfills')
    .values({
      dag_id: dagId,
      from_date: '2026-01-01T00:00:00Z',
      to_date: '2026-01-02T00:00:00Z',
      dag_run_conf: null,
      reprocess_behavior: 'none',
      max_active_runs: 1,
      run_backwards: false,
      triggering_user_name: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  // Something left to do, or it would be completed by the next look at it; the DAG is paused, so it stays.
  const runId = crypto.randomUUID();
  await insertRun(db, { dagId, runId, run_type: 'backfill', state: 'queued', backfill_id: id });
  return id;
}

/** A bundle with a deployment. Nothing syncs it. */
async function fillBundle(server: TestServer, token: string, marker: string): Promise<string> {
  const db = server.db.tenant(tenantOf(token));
  const name = `bundle-${crypto.randomUUID()}`;
  await insertBundle(db, {
    name,
    kind: 'git',
    url: `https://forge.invalid/${marker}.git`,
    on_error: 'refuse',
    adopts: false,
    poll_seconds: 0,
    created_by: marker,
  });
  await insertDeployment(db, {
    bundle_name: name,
    number: 1,
    kind: 'sync',
    version: 'commit',
    author: marker,
    message: marker,
    root: '/nowhere',
    dags: '{}',
    changes: '{}',
    changed: 0,
    created_by: marker,
  });
  return name;
}

/** The tenant a token is for. */
function tenantOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { tenant_id: string };
  return claims.tenant_id;
}

const OTHER_VALUES = {
  // Of a bundle: no pattern tells what these are.
  url: 'https://forge.invalid/dags.git',
  ref: 'main',
  folder: 'dags',
  commit_url: 'https://forge.invalid/commit/{commit}',
  conn_id: null,
  webhook_conn_id: null,
  roles: ['viewer'],
  role: 'viewer',
  username: ADMIN_EMAIL,
  password: TEST_PASSWORD,
  tenant: 'default',
  current_password: 'not the password, or the callers would lose their sessions',
  team_name: null,
  state: 'success', // of a run: it must not begin again, or waiting for its end would take for ever
  section: 'ui', // of the configuration
  option: 'instance_name',
  partition_key: 'partition',
  chosen_options: ['yes'],
  params_input: {},
  access_control: null, // of an asset event: there are no teams
  new_state: null, // of a task instance: a mark is refused the second time
  task_try_number: 1,
  task_ids: ['task'],
  // A clear is of a run or of a range of dates.
  start_date: null,
  end_date: null,
};
