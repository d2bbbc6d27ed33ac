/** Writes repositories, compiles them as `svc check` does, and compares each with what Airflow 3.2.2 made of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPythonEnvironments } from '@svc/agent/environments.ts';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import { createCompilerPool } from '@svc/compiler/compiler-pool.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { pythonEnvironment } from '../python-environment.ts';
import { compareResults, readResults, resultOf } from './compare-layouts.ts';
import type { Result } from './compare-layouts.ts';
import { LAYOUTS, filesOf } from './layouts.ts';
import type { Layout } from './layouts.ts';
import { writeLayout } from './write-layout.ts';

const JOBS = 2;
/** Other files need them. */
const IMPORTED = ['beside.py', 'classic.py'];
export const FOLDERS: ReadonlyMap<string, string> = new Map(LAYOUTS.map(({ name, dags }) => [name, dags]));

/** `loadsHere`, `loadsThere`: files with DAGs. */
export type ComparedLayout = {
  name: string;
  files: number;
  loadsHere: number;
  loadsThere: number;
  missing: string[];
  differences: string[];
};

const open = (python: string) => createCompiler({ python, jobs: JOBS });

/** `keep` decides which of the files that all repositories have are compiled. */
export async function compareLayouts(
  keep: (input: { layout: number; file: number }) => boolean,
): Promise<ComparedLayout[]> {
  const airflow = readResults(FOLDERS);
  const folder = mkdtempSync(join(tmpdir(), 'svc-layouts-'));
  const python = await pythonEnvironment();
  const compiler = createCompilerPool({
    base: open(python),
    interpreters: createPythonEnvironments({ env: { ...process.env, SVC_PYTHON: python }, say: () => {} }),
    open,
  });
  try {
    const compared: ComparedLayout[] = [];
    for (const [index, layout] of LAYOUTS.entries()) {
      const files = partOf(layout, (file) => keep({ layout: index, file }));
      const root = writeLayout(layout, folder, files);
      const units = await compileWorkspace({ workspace: root, compiler });
      const there = airflow.get(layout.name);
      if (!there)
        throw new Error(`Airflow has not read ${layout.name}: node packages/testing/layouts/record-layouts.ts`);
      const here = resultOf(units, root);
      const names = new Set(Object.keys(files));
      compared.push({
        name: layout.name,
        files: [...names].filter((name) => name.endsWith('.py')).length,
        loadsHere: filesWithDags(here, names),
        loadsThere: filesWithDags(there, names),
        ...compareResults({ airflow: there, here, files: names }),
      });
    }
    return compared;
  } finally {
    await compiler.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const filesWithDags = ({ dags }: Result, names: ReadonlySet<string>): number =>
  new Set(Object.values(dags).flatMap(({ file }) => (names.has(file) ? [file] : []))).size;

const isImported = (name: string): boolean => IMPORTED.some((module) => name.endsWith(module));

/** A repository without some of the files that all repositories have. */
function partOf(layout: Layout, keep: (file: number) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(filesOf(layout)).filter(
      ([name], index) => layout.files[name] !== undefined || isImported(name) || keep(index),
    ),
  );
}
