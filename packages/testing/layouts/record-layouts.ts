// Writes airflow-3.2.2.json: what a real Airflow makes of the repositories of layouts.ts. Needs half a minute.
//
//   node packages/testing/layouts/record-layouts.ts
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installAirflow } from '../airflow/airflow-processes.ts';
import { CACHE } from '../paths.ts';
import { writeResults } from './compare-layouts.ts';
import type { Result } from './compare-layouts.ts';
import { FOLDERS } from './compile-layouts.ts';
import { LAYOUTS } from './layouts.ts';
import { writeLayout } from './write-layout.ts';

await installAirflow();
const work = mkdtempSync(join(tmpdir(), 'svc-layouts-'));
const given = LAYOUTS.map((layout) => {
  const { name, dags, path, workingFolder = '.', env = {} } = layout;
  return JSON.stringify({ name, root: writeLayout(layout, work), dags, path, workingFolder, env });
});
const { stdout, status } = spawnSync(
  join(CACHE, 'airflow-3.2.2', 'bin', 'python'),
  [join(import.meta.dirname, 'airflow_layouts.py')],
  {
    input: `${given.join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, AIRFLOW_HOME: join(work, 'home'), AIRFLOW__LOGGING__LOGGING_LEVEL: 'CRITICAL' },
    stdio: ['pipe', 'pipe', 'inherit'],
  },
);
rmSync(work, { recursive: true });
if (status !== 0) throw new Error(`Airflow ended with ${String(status)}`);
const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
const results = new Map(
  lines.map((line) => {
    const { name, ...result } = JSON.parse(line) as Result & { name: string };
    return [name, result];
  }),
);
writeResults(results, FOLDERS);
for (const [name, { dags, errors }] of results)
  process.stdout.write(`${name}: ${Object.keys(dags).length} DAGs, ${Object.keys(errors).length} files do not load\n`);
