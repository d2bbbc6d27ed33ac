/** Secrets of the operator's store, from a real lite to the log of a real task: the real Amazon provider against moto. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '@svc/testing/paths.ts';
import { AWS_ENVIRONMENT, secretStoresEnvironment, startAws } from '@svc/testing/services/secret-stores.ts';
import type { AwsEmulator } from '@svc/testing/services/secret-stores.ts';
import { EVENTUALLY, runEnds, runToEnd, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';

const PASSWORD = 'store-password-31337';
const VALUE = 'store-variable-4711';
const AMAZON = 'airflow.providers.amazon.aws.secrets';

const DAG = `
import os, subprocess
from airflow.sdk import BaseHook, Variable, dag, task
from airflow.providers.standard.operators.bash import BashOperator

@dag(schedule=None)
def resolves():
    @task
    def reads(log_url):
        found = BaseHook.get_connection("warehouse")
        print("password is", found.password, "and the value", Variable.get("setting"), flush=True)
        subprocess.run(["sh", "-c", f"echo a program says {found.password}"])
        subprocess.run(["sh", "-c", "echo arguments $SVC_SECRETS_BACKEND_KWARGS"])
        return [found.conn_type, found.host, found.port, found.password == "${PASSWORD}",
                Variable.get("setting") == "${VALUE}", Variable.get("of_the_vault"), Variable.get("nowhere", default="none"),
                os.environ["SVC_HTTP_USER_AGENT"], log_url]

    reads("{{ ti.log_url }}") >> BashOperator(task_id="templates", bash_command="echo {{ conn.warehouse.host }} {{ var.value.setting }}")

resolves()

@dag(schedule=None)
def missing():
    @task
    def reads():
        return Variable.get("nowhere")
    reads()

missing()
`;

let aws: AwsEmulator;
let lite: LiteInstance;
const kwargs = (more: object = {}): string =>
  JSON.stringify({
    connections_prefix: 'svc/connections',
    variables_prefix: 'svc/variables',
    endpoint_url: aws.url,
    ...more,
  });

beforeAll(async () => {
  aws = await startAws();
  const connection = { conn_type: 'postgres', host: 'store.host', password: PASSWORD, port: '5432' };
  await aws.createSecret('svc/connections/warehouse', JSON.stringify(connection));
  await aws.createSecret('svc/variables/setting', VALUE);
  await aws.putParameter('/svc/connections/warehouse', `postgres://ada:${PASSWORD}@parameter.host:5432/db`);
  await aws.putParameter('/svc/variables/setting', VALUE);
  lite = await startLite({
    examples: [],
    dags: { 'dag.py': DAG },
    env: {
      ...AWS_ENVIRONMENT,
      SVC_PYTHON: await secretStoresEnvironment(),
      SVC_SECRETS_BACKEND: `${AMAZON}.secrets_manager.SecretsManagerBackend`,
      SVC_SECRETS_BACKEND_KWARGS: kwargs(),
      SVC_EXECUTOR_HTTP_USER_AGENT: 'flows/7',
      SVC_SERVER_BASE_URL: 'https://flows.example.com/svc',
    },
  });
}, 300_000);
afterAll(async () => {
  await lite?.stop();
  await aws?.stop();
});

const instance = (dagId: string, runId: string, task: string): string =>
  `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${task}`;
async function logOf(dagId: string, runId: string, task: string): Promise<string> {
  const headers = { authorization: `Bearer ${await lite.login()}` };
  return (await fetch(`${lite.url}/api/v2${instance(dagId, runId, task)}/logs/1`, { headers })).text();
}

describe('the operator’s store of secrets', { timeout: 400_000 }, () => {
  it('serves tasks of a real lite, first of all sources, and nothing of it shows', async () => {
    await expect
      .poll(
        () =>
          lite.api('GET', '/dags/resolves').then(
            () => true,
            () => false,
          ),
        EVENTUALLY,
      )
      .toBe(true);
    await lite.api('POST', '/variables', { key: 'of_the_vault', value: 'from the vault' });
    await lite.api('POST', '/variables', { key: 'setting', value: 'hidden by the store' });
    const runId = await runToEnd(lite.api, 'resolves');
    const { value } = await lite.api<{ value: unknown }>(
      'GET',
      `${instance('resolves', runId, 'reads')}/xcomEntries/return_value?stringify=false`,
    );
    expect(value).toEqual([
      'postgres',
      'store.host',
      5432,
      true,
      true,
      'from the vault',
      'none',
      'flows/7',
      expect.stringMatching(
        /^https:\/\/flows\.example\.com\/svc\/dags\/resolves\/runs\/.*\/tasks\/reads\?try_number=1$/,
      ),
    ]);
    const log = await logOf('resolves', runId, 'reads');
    expect(log).toContain('password is *** and the value ***');
    expect(log).toContain('a program says ***');
    expect(log).toContain('arguments ***');
    for (const secret of [PASSWORD, VALUE]) expect(log).not.toContain(secret);
    expect(await logOf('resolves', runId, 'templates')).toContain('store.host ***');
    expect(lite.output()).not.toContain(PASSWORD);
  });

  it('does not have what nobody has: that stays an error', async () => {
    await lite.api('PATCH', '/dags/missing', { is_paused: false });
    const { dag_run_id: runId } = await lite.api<{ dag_run_id: string }>('POST', '/dags/missing/dagRuns', {});
    await runEnds(lite.api, 'missing', runId, 'failed');
    expect(await logOf('missing', runId, 'reads')).toContain('Variable nowhere does not exist');
  });

  it.each([
    ['secrets_manager.SecretsManagerBackend', 'svc', 'store.host'],
    ['systems_manager.SystemsManagerParameterStoreBackend', '/svc', 'parameter.host'],
  ])('%s', async (name, prefix, host) => {
    const python = await secretStoresEnvironment();
    const prefixes = { connections_prefix: `${prefix}/connections`, variables_prefix: `${prefix}/variables` };
    const env = {
      ...AWS_ENVIRONMENT,
      PATH: process.env['PATH'],
      PYTHONPATH: join(ROOT, 'python'),
      SVC_SECRETS_BACKEND: `${AMAZON}.${name}`,
      SVC_SECRETS_BACKEND_KWARGS: kwargs(prefixes),
    };
    expect(JSON.parse(execFileSync(python, ['-c', RESOLVE], { env, encoding: 'utf8' }))).toEqual([
      host,
      PASSWORD,
      VALUE,
      'none',
    ]);
  });
});

const RESOLVE = `
import json
import airflow
from svc_runtime.import_paths import prefer_installed_providers
from svc_runtime.run import current
from svc_runtime.run.secrets_source import ExternalSource
from airflow.sdk import Connection, Variable

prefer_installed_providers()
current.secrets_source = ExternalSource()
found = Connection.get("warehouse")
print(json.dumps([found.host, found.password, Variable.get("setting"), Variable.get("nowhere", default="none")]))
`;
