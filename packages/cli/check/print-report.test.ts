import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import type { CliContext } from '../context.ts';
import { printReport } from './print-report.ts';
import type { CheckReport, CheckedFile } from './report.ts';

const file = (name: string): CheckedFile => ({
  file: name,
  is_dag_file: true,
  loads: true,
  effort: 'none',
  dags: [],
  problems: [],
  gone: [],
  fixable: [],
  by_hand: [],
  needs_airflow: null,
  packages: [],
  notes: [{ file: name, line: null, message: 'plugin q: fastapi_apps are not loaded', instead: '' }],
});

it('a plugin that every file misses is named once in the report of svc check', () => {
  let text = '';
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  const files = ['a.py', 'b.py', 'c.py'].map(file);
  const totals = { files: 3, loads: 3, effort: {}, packages_to_add: [], gone: 0 } as unknown as CheckReport['totals'];
  const report: CheckReport = { path: '.', files, requirements: [], totals, effort: 'none' };
  printReport({ stdout } as unknown as CliContext, report);
  expect(text.match(/fastapi_apps/g)).toHaveLength(1);
  expect(text).toContain('a.py and 2 more: plugin q');
});
