/** Compiles the files of a bundle, and sends what the control plane lacks. */
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import { createCompilerPool } from '@svc/compiler/compiler-pool.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { compiledFolder, ensurePython } from '@svc/compiler/python-environment.ts';
import { PythonEnvironmentError } from '@svc/compiler/python-failures.ts';
import { renderProblems } from '@svc/compiler/render-problems.ts';
import type { BundleJob, BundleMessage } from '@svc/proto/bundle-job.ts';
import { contentOf } from '@svc/spec/content-hash.ts';
import type { AnswerValue } from '@svc/spec/values-read.ts';
import { createPythonEnvironments } from '../environments.ts';
import { SourceError } from './git.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const PROGRESS_EVERY = 10;

export async function compileBundle(input: {
  job: BundleJob;
  work: string;
  tree: string;
  env: Environment;
  answerValue: AnswerValue;
  send: (message: BundleMessage) => void;
}): Promise<void> {
  const { job, work, env, answerValue, send } = input;
  const say = (text: string): void => send({ kind: 'progress', text });
  const python = await ensurePython({ env, say }).catch((error: unknown) => {
    if (!(error instanceof PythonEnvironmentError)) throw error;
    throw new SourceError(`${error.message}. ${error.hint}`);
  });
  const taskUser = job.taskUser ?? undefined;
  const options = { jobs: availableParallelism(), cacheFolder: compiledFolder(env), taskUser, answerValue };
  const compiler = createCompilerPool({
    base: createCompiler({ python, ...options }),
    interpreters: createPythonEnvironments({ env, user: taskUser, say, onProgress: say }),
    runsElsewhere: job.runsElsewhere,
    open: (other) => createCompiler({ python: other, ...options }),
  });
  try {
    const units = await compileWorkspace({
      workspace: work,
      compiler,
      onProgress: ({ done, total }) => {
        if (done % PROGRESS_EVERY === 0 || done === total) say(`compiled ${done} of ${total} files`);
      },
    });
    for (const unit of units) await sendUnit(unit, input);
  } finally {
    await compiler.close();
  }
}

async function sendUnit(
  unit: CompiledUnit,
  { job, work, tree, send }: { job: BundleJob; work: string; tree: string; send: (message: BundleMessage) => void },
): Promise<void> {
  const inBundle = (file: string): string => relative(work, join(unit.unit.root, file));
  if (!unit.ok) {
    const [first] = unit.problems;
    send({
      kind: 'broken',
      file: inBundle(first?.file ?? unit.source),
      source: inBundle(unit.source),
      line: first?.line ?? null,
      message: first?.message ?? 'the file does not compile',
      text: renderProblems(unit.problems, { path: inBundle }),
    });
    return;
  }
  const file = inBundle(unit.source);
  for (const { dagId, spec, warnings, differences, providers, reads } of unit.artifacts) {
    const { hash, isTimetableOwn } = await contentOf(spec);
    send({
      kind: 'dag',
      dagId,
      hash,
      file,
      source: spec.source.path,
      fileloc: join(tree, file),
      seconds: unit.seconds,
      warnings,
      differences,
      reads: reads ?? [],
      ...(providers && { providers }),
      // What a custom timetable answers is not part of the hash.
      ...((isTimetableOwn || job.known[dagId] !== hash) && { spec }),
    });
  }
}
