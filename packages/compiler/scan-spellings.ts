/** Old spellings in Python files and templates, found and rewritten by python/svc_runtime/fix, which runs none of them. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const PYTHON_FOLDER = join(import.meta.dirname, '..', '..', 'python');

export type Spelling = {
  /** `old` has a present spelling, `gone` has none and stops its file, `removed` has no effect. */
  kind: 'old' | 'gone' | 'removed';
  line: number;
  column: number;
  old: string;
  /** Empty where there is none. */
  new: string;
  /** What to do, where nobody but the author can. */
  instead: string;
  message: string;
  fixable: boolean;
};

/** A module that neither Python, Airflow nor the repository brings. */
export type OutsideModule = { module: string; line: number; at_load: boolean };

export type FileSpellings = {
  /** Relative to the root. */
  path: string;
  findings: Spelling[];
  /** What is still there after rewriting. */
  left: Spelling[];
  modules: OutsideModule[];
  changed: boolean;
  /** A unified diff; empty when nothing changes. */
  diff: string;
  /** Why the file could not be read, understood or written. */
  error: string | null;
};

export async function scanSpellings(input: {
  python: string;
  root: string;
  files: readonly string[];
  /** Rewrite the files; without it, only say how. */
  write?: boolean;
}): Promise<FileSpellings[]> {
  const { python, root, files, write = false } = input;
  if (files.length === 0) return [];
  const child = spawn(python, ['-m', 'svc_runtime.fix'], {
    env: { ...process.env, PYTHONPATH: PYTHON_FOLDER, PYTHONIOENCODING: 'utf-8', PYTHONNOUSERSITE: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  // A broken pipe is told by the exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify({ root, files, write }));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`looking for old spellings failed (exit code ${code}):\n${errors.slice(-4_000)}`);
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as FileSpellings);
}
