import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectionTestJob } from '@svc/proto/connection-test.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { createConnectionTester } from './connection-test.ts';

/** A provider of its own connection type, as a wheel: it needs no network. */
const WRITE_WHEEL = `
import sys, zipfile
info = "svc_probe_provider-1.0.dist-info"
hook = '''
import os, subprocess, time
from airflow.sdk import BaseHook

class ProbeHook(BaseHook):
    conn_name_attr = "probe_conn_id"

    def __init__(self, probe_conn_id="probe_default"):
        super().__init__()
        self.probe_conn_id = probe_conn_id

    def test_connection(self):
        connection = self.get_connection(self.probe_conn_id)
        print("printed", connection.password, flush=True)
        if connection.host == "slow":
            child = subprocess.Popen(["sleep", "600"], start_new_session=True)
            open(connection.schema, "w").write(str(child.pid))
            time.sleep(600)
        if connection.host == "dies":
            os._exit(3)
        if connection.host == "raises":
            raise OSError(f"cannot reach it as {connection.login}:{connection.password}")
        return connection.host == "good", f"{connection.conn_type} {connection.port} {connection.extra_dejson}"

class Mute(BaseHook):
    pass

def provider_info():
    return {"connection-types": [
        {"connection-type": "probe", "hook-class-name": "svc_probe_provider.ProbeHook"},
        {"connection-type": "mute", "hook-class-name": "svc_probe_provider.Mute"},
    ]}
'''
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("svc_probe_provider.py", hook)
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: svc-probe-provider\\nVersion: 1.0\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/entry_points.txt", "[apache_airflow_provider]\\nprovider_info=svc_probe_provider:provider_info\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
const SECRET = 'canary secret %&';

let folder: string;
let wheel: string;
let env: Record<string, string | undefined>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-connection-test-'));
  const python = await pythonEnvironment();
  wheel = join(folder, 'svc_probe_provider-1.0-py3-none-any.whl');
  execFileSync(python, ['-c', WRITE_WHEEL, wheel]);
  env = { ...process.env, SVC_PYTHON: python, XDG_CACHE_HOME: folder, SVC_SECRET_KEY: 'of the control plane' };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ask = (
  connection: Partial<ConnectionTestJob['connection']>,
  { hookMs = 100_000, ...job }: Partial<ConnectionTestJob> & { hookMs?: number } = {},
) => {
  const nothing = { host: null, login: null, password: null, schema: null, port: null, extra: null };
  return createConnectionTester({
    agentPath: join(ROOT, 'bin', 'svc-agent'),
    workdir: '',
    env,
    hookMs,
  })({
    connection: { conn_type: 'probe', ...nothing, ...connection },
    hookClass: null,
    provider: null,
    environments: [[], [wheel]],
    secrets: [SECRET],
    ...job,
  });
};

describe('the test of a connection, in a process of the agent', () => {
  it('asks the hook that the provider in the tenant’s environment names', async () => {
    const answer = await ask({ host: 'good', port: 5432, extra: '{"a": 1}' });
    expect(answer).toEqual({ status: true, message: "probe 5432 {'a': 1}" });
    expect(readdirSync(join(folder, 'svc')).filter((name) => name.startsWith('venv-'))).toHaveLength(1);
    expect((await ask({ host: 'bad' })).status).toBe(false);
  });

  it('says what the hook raised, without a secret', async () => {
    const answer = await ask({ host: 'raises', login: 'ann', password: SECRET });
    expect(answer).toEqual({ status: false, message: 'OSError: cannot reach it as ann:***' });
  });

  it('has an end, whatever the hook does', async () => {
    const left = join(folder, 'left.pid');
    expect(await ask({ host: 'slow', schema: left }, { hookMs: 3_000 })).toEqual({
      status: false,
      message: 'no answer within 3 seconds',
    });
    // Nothing of it is left: on a machine that took longer than that to start Python, nothing was there.
    // (What nobody has waited for yet has no environment any more.)
    const pid = existsSync(left) ? readFileSync(left, 'utf8') : 'none';
    expect(() => readFileSync(`/proc/${pid}/environ`)).toThrow(/ENOENT|ESRCH/);
    expect((await ask({ host: 'dies' })).message).toBe('the test ended without an answer (exit code 3)');
  });

  it('says which package is missing, and what a hook cannot do', async () => {
    const postgres = {
      hookClass: 'airflow.providers.postgres.hooks.postgres.PostgresHook',
      provider: 'apache-airflow-providers-postgres',
    };
    const missing = await ask({ conn_type: 'postgres' }, postgres);
    expect([missing.status, missing.message]).toEqual([
      false,
      expect.stringContaining('add apache-airflow-providers-postgres to the dependencies'),
    ]);
    const unknown = await ask({ conn_type: 'nobodys' });
    expect(unknown.message).toContain("no installed provider knows the connection type 'nobodys'");
    expect((await ask({ conn_type: 'mute' })).message).toContain('cannot test connections');
  });
});
