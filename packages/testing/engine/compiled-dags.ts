/** Real compiled DAGs for tests: files of the authoring corpus, through the real compiler. */
import { join } from 'node:path';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { pythonEnvironment } from '../python-environment.ts';

const DAGS_FOLDER = join(import.meta.dirname, '../../../python/tests/dags');

/** The specs of the DAGs in these files, by DAG id. */
export async function compileDags(
  files: readonly string[],
  folder: string = DAGS_FOLDER,
): Promise<Map<string, CompiledSpec>> {
  const compiler = createCompiler({ python: await pythonEnvironment() });
  try {
    const answers = await Promise.all(
      files.map((file) => compiler.compile({ path: join(folder, file), dagsFolder: folder })),
    );
    for (const answer of answers) if (!answer.ok) throw new Error(answer.error.message);
    return new Map(answers.flatMap((answer) => answer.dags.map((dag) => [dag.dag_id, dag.spec] as const)));
  } finally {
    await compiler.close();
  }
}
