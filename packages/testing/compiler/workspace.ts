/** Directories of DAG files for tests, and the text of DAG files in them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory with these files, gone after the test. */
export function workspaceOf(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-workspace-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFiles(root, files);
  return root;
}

export function writeFiles(root: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

/** A DAG of tasks in a row. */
export function dagText(dagId: string, tasks: readonly string[] = ['extract', 'load']): string {
  const lines = tasks.map((task) => `BashOperator(task_id="${task}", bash_command="true")`);
  return `from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

with DAG("${dagId}", schedule=None):
    ${lines.join(' >> ')}
`;
}
