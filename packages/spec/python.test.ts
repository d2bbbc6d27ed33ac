/** The Python side's own tests: the comparison with Airflow, hostile files, refusals, canonical JSON, recording. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';

const PYTHON = resolve(import.meta.dirname, '../../python');

it('every Python test passes', { timeout: 300_000 }, async () => {
  const python = await pythonEnvironment();
  const child = spawn(python, ['-m', 'unittest', 'discover', '-s', 'tests', '-t', '.'], {
    cwd: PYTHON,
    env: { ...process.env, PYTHONHASHSEED: '0', PYTHONDONTWRITEBYTECODE: '1' },
  });
  let report = '';
  let tables = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (report += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => (tables += text));
  const code = await new Promise((done) => child.once('close', done));
  process.stdout.write(`\nCompiled specs against a real Airflow:\n${tables}\n`);
  expect(report).toMatch(/^OK$/m); // not `OK (skipped=1)`: a test that did not run proves nothing
  expect(code).toBe(0);
});
