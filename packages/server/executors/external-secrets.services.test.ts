/** The real HashiCorp provider against a real Vault. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '@svc/testing/paths.ts';
import { secretStoresEnvironment } from '@svc/testing/services/secret-stores.ts';
import { startVault } from '@svc/testing/services/vault.ts';
import type { Vault } from '@svc/testing/services/vault.ts';

const PASSWORD = 'vault-password-31337';

let vault: Vault;
let python: string;
beforeAll(async () => {
  python = await secretStoresEnvironment();
  vault = await startVault();
  await vault.write('connections/uri', { conn_uri: `postgres://ada:${PASSWORD}@vault.host:5432/db` });
  await vault.write('connections/fields', { conn_type: 'http', host: 'fields.host', password: PASSWORD, port: 80 });
  await vault.write('variables/setting', { value: 'from vault' });
  await vault.write('variables/wrong', { other: 'x' });
});
afterAll(() => vault?.stop());

function resolve(kwargs: object, code: string): unknown {
  const env = {
    PATH: process.env['PATH'],
    PYTHONPATH: join(ROOT, 'python'),
    SVC_SECRETS_BACKEND: 'airflow.providers.hashicorp.secrets.vault.VaultBackend',
    SVC_SECRETS_BACKEND_KWARGS: JSON.stringify({ url: vault.url, ...kwargs }),
  };
  const output = execFileSync(python, ['-c', `${PRELUDE}\nprint(json.dumps(${code}))`], { env, encoding: 'utf8' });
  return JSON.parse(output.trim().split('\n').at(-1) ?? '');
}

const PRELUDE = `
import json
import airflow
from svc_runtime.import_paths import prefer_installed_providers
from svc_runtime.run import current
from svc_runtime.run.secrets_source import ExternalSource
from airflow.sdk import Connection, Variable

prefer_installed_providers()
current.secrets_source = ExternalSource()

def fields(name):
    found = Connection.get(name)
    return [found.conn_type, found.host, found.password, found.port]

def words(function):
    try:
        return function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
`;
const BOTH = { connections_path: 'connections', variables_path: 'variables' };

it('serves connections as URI and as fields, and variables', () => {
  const code = '[fields("uri"), fields("fields"), Variable.get("setting"), Variable.get("none", default="none")]';
  expect(resolve({ ...BOTH, token: vault.token }, code)).toEqual([
    ['postgres', 'vault.host', PASSWORD, 5432],
    ['http', 'fields.host', PASSWORD, 80],
    'from vault',
    'none',
  ]);
});

it('serves a task that logs in with a role of its own', async () => {
  await vault.call('POST', 'sys/auth/approle', { type: 'approle' });
  await vault.call('PUT', 'sys/policies/acl/tasks', { policy: 'path "secret/*" { capabilities = ["read"] }' });
  await vault.call('POST', 'auth/approle/role/tasks', { token_policies: 'tasks' });
  const role = await vault.call<{ data: { role_id: string } }>('GET', 'auth/approle/role/tasks/role-id');
  const secret = await vault.call<{ data: { secret_id: string } }>('POST', 'auth/approle/role/tasks/secret-id');
  const login = { auth_type: 'approle', role_id: role.data.role_id, secret_id: secret.data.secret_id };
  expect(resolve({ ...BOTH, ...login }, 'Variable.get("setting")')).toBe('from vault');
});

it('asks only for the kind that has a path, and says why it could not be asked', () => {
  const words = 'words(lambda: fields("uri"))';
  expect(resolve({ variables_path: 'variables', token: vault.token }, words)).toBe(
    "AirflowNotFoundException: The conn_id `uri` isn't defined",
  );
  const refused = resolve({ ...BOTH, token: 'wrong-token-0815' }, words);
  expect(refused).toMatch(
    /^ExternalSecretsFailed: the secrets backend airflow\.providers\.hashicorp\S+ failed \(hvac\./,
  );
  expect(refused).not.toContain('wrong-token-0815');
});
