/** An environment with the newest Airflow, task SDK, standard provider, client and airflowctl of the package index. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { CACHE, ROOT } from '../paths.ts';
import type { Facts } from './compare-facts.ts';
import { openApiFacts } from './openapi-facts.ts';
import type { OpenApiDocument } from './openapi-facts.ts';

const run = promisify(execFile);
const TARGET = join(CACHE, 'airflow-newest');
const MOST_OUTPUT = 64 << 20;
// time-machine stops the clock for example DAGs that look at it; the examples import httpx and requests.
const WANTED = [
  'apache-airflow',
  'apache-airflow-task-sdk',
  'apache-airflow-providers-standard',
  'apache-airflow-client',
  'apache-airflow-ctl',
  'time-machine',
  'httpx',
  'requests',
];

export type NewestAirflow = { python: string; versions: Record<string, string>; facts: Facts };

/** Installs the packages of today, and describes them. */
export async function newestAirflow(uv: string): Promise<NewestAirflow> {
  const python = join(TARGET, 'bin', 'python');
  const env = { ...process.env, UV_SYSTEM_CERTS: 'true' };
  const base = process.env['PYTHON'] ?? 'python3';
  await run(uv, ['venv', '--quiet', '--allow-existing', '--python', base, TARGET], { env });
  await run(uv, ['pip', 'install', '--quiet', '--upgrade', '--python', python, ...WANTED], { env });
  const described = await describePackages(python);
  const { versions, documents, ...parts } = described;
  const openApi = Object.entries(documents).map(([part, file]): [string, Record<string, string>] => [
    part,
    openApiFacts(parse(readFileSync(file, 'utf8')) as OpenApiDocument),
  ]);
  return { python, versions, facts: { versions, ...parts, ...Object.fromEntries(openApi) } };
}

/** `documents` are the files of the OpenAPI documents, by part. */
type Described = Record<'versions' | 'documents' | 'names' | 'client' | 'airflowctl', Record<string, string>>;

async function describePackages(python: string): Promise<Described> {
  // Airflow writes its configuration into its home when it is imported.
  const home = mkdtempSync(join(tmpdir(), 'svc-drift-'));
  try {
    const file = join(home, 'described.json');
    const script = join(import.meta.dirname, 'describe_packages.py');
    await run(python, [script, join(ROOT, 'python', 'golden'), file], {
      env: { ...process.env, AIRFLOW_HOME: home },
      maxBuffer: MOST_OUTPUT,
    });
    return JSON.parse(readFileSync(file, 'utf8')) as Described;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
