import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { createPythonEnvironments } from './environments.ts';

/** A package that needs no network: a wheel is a zip of a certain form. */
const WRITE_WHEEL = `
import sys, zipfile
info = "apache_airflow_providers_probe-3.1.dist-info"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("svc_probe.py", "ANSWER = 42\\n")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: Apache_Airflow-Providers.probe\\nVersion: 3.1\\nSummary: Probes of all kinds\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;

let folder: string;
let base: string;
let wheel: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-environments-'));
  base = await pythonEnvironment();
  wheel = join(folder, 'apache_airflow_providers_probe-3.1-py3-none-any.whl');
  execFileSync(base, ['-c', WRITE_WHEEL, wheel]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function environments(cache = folder) {
  const said: string[] = [];
  const env = { ...process.env, SVC_PYTHON: base, XDG_CACHE_HOME: cache };
  return { said, environments: createPythonEnvironments({ env, say: (text) => said.push(text) }) };
}

const probe = (python: string, code: string): string => execFileSync(python, ['-c', code], { encoding: 'utf8' }).trim();

describe('the Python of a task', () => {
  it('without dependencies is the one DAG files are compiled with', async () => {
    expect(await environments().environments.get([])).toBe(base);
  });

  it('with dependencies has them and what every task needs, and is made once for all who ask', async () => {
    const first = environments();
    const both = await Promise.all([first.environments.get([wheel]), first.environments.get([wheel])]);
    expect(new Set(both).size).toBe(1);
    expect(first.said).toHaveLength(1);
    const [python = ''] = both;
    expect(probe(python, 'import svc_probe, jinja2, pendulum; print(svc_probe.ANSWER)')).toBe('42');
    const later = environments();
    expect(await later.environments.get([wheel])).toBe(python);
    expect(later.said).toEqual([]);
    expect(readdirSync(join(folder, 'svc')).filter((name) => name.includes('building'))).toEqual([]);
  });

  it('tells which provider packages it has, by their own metadata', async () => {
    const { environments: made } = environments();
    expect(await made.providers([wheel])).toEqual([
      { name: 'apache-airflow-providers-probe', version: '3.1', summary: 'Probes of all kinds' },
    ]);
    expect(await made.providers([])).toEqual([]);
  });

  it('takes an entry that looks like an option for the name of a package', async () => {
    const entry = '--target=/tmp/svc-must-not-exist';
    await expect(environments().environments.get([entry])).rejects.toThrow('installing');
  });

  it('that cannot be made says why, and is tried again by the next', async () => {
    const { environments: found, said } = environments();
    const missing = join(folder, 'missing-1.0-py3-none-any.whl');
    for (let time = 1; time <= 2; time += 1) {
      await expect(found.get([missing])).rejects.toMatchObject({ output: expect.stringContaining('missing') });
      expect(said).toHaveLength(time);
    }
    // Below a file no folder can be made.
    await expect(environments(wheel).environments.get([wheel])).rejects.toThrow(wheel);
  });
});
