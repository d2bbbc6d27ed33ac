/**
 * `svc check` over Airflow's own example DAGs and those of provider packages, from PyPI. Prints one JSON line per file that does
 * not load, with the reason, and one per package with the count: `node scripts/check-corpus.ts [package[==version] …]`.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  CORE_EXAMPLES,
  STANDARD_EXAMPLES,
  exampleRepository,
  pythonForExamples,
} from '@svc/testing/airflow/example-corpus.ts';
import { ROOT } from '@svc/testing/paths.ts';

const run = promisify(execFile);
const DEFAULT_PACKAGES = [CORE_EXAMPLES, STANDARD_EXAMPLES];
const MOST_OUTPUT = 256 * 1_024 * 1_024;

type Report = {
  totals: { files: number; loads: number; dags: number; runs_as_on_airflow: number; gone: number; fixable: number };
  files: { file: string; loads: boolean; problems: { line: number | null; message: string; instead: string }[] }[];
};

const print = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

async function check(python: string, name: string): Promise<Report['totals']> {
  const examples = await exampleRepository({ python, name });
  const { stdout } = await run(join(ROOT, 'bin', 'svc'), ['check', examples, '--json'], {
    env: { ...process.env, SVC_PYTHON: python },
    maxBuffer: MOST_OUTPUT,
  }).catch((error: { stdout?: string }) => {
    // Exit code 1 says that a file does not load, and the report is there all the same.
    if (!error.stdout) throw error;
    return { stdout: error.stdout };
  });
  const { files, totals } = JSON.parse(stdout) as Report;
  for (const { file, loads, problems } of files) {
    const [problem] = problems;
    if (!loads)
      print({ package: name, file, line: problem?.line, message: problem?.message, instead: problem?.instead });
  }
  return totals;
}

const packages = process.argv.length > 2 ? process.argv.slice(2) : DEFAULT_PACKAGES;
const python = await pythonForExamples();
let files = 0;
let loads = 0;
for (const name of packages) {
  const totals = await check(python, name);
  files += totals.files;
  loads += totals.loads;
  print({
    package: name,
    files: totals.files,
    loads: totals.loads,
    dags: totals.dags,
    as_on_airflow: totals.runs_as_on_airflow,
  });
}
print({
  packages: packages.length,
  files,
  loads,
  loads_percent: Math.round((loads / Math.max(files, 1)) * 1_000) / 10,
});
