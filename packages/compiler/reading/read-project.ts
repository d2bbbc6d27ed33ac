/** Reads the svc.yaml of a project: its settings, or why there are none. What comes out is plain data, for another thread. */
import { basename } from 'node:path';
import { FileLimitError } from '@svc/spec/files/limits.ts';
import { readTextFile } from '@svc/spec/files/read-text.ts';
import { loadProject } from '@svc/spec/project/load.ts';
import type { LoadedProject } from '@svc/spec/project/load.ts';
import { PROJECT_DEFAULTS } from '@svc/spec/project/schema.ts';
import { NOWHERE, PROJECT_FILE, inProjectFile, ofLimit } from './unit-problem.ts';
import type { UnitProblem } from './unit-problem.ts';

export type NamedDag = { dag_id: string; dag_source: string };

export type ReadProject =
  | Extract<LoadedProject, { ok: true }>
  | {
      ok: false;
      problems: readonly UnitProblem[];
      /** What the file was most likely meant to say, so that its error is shown with its DAG. */
      named: NamedDag;
    };

export function readProject({ path, root }: { path: string; root: string }): ReadProject {
  const directory = basename(root);
  let text: string;
  try {
    text = readTextFile('project', path, PROJECT_FILE);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (error instanceof FileLimitError) return unreadProject(root, ofLimit(error));
    if (code !== 'ENOENT') return unreadProject(root, unreadable(code));
    text = ''; // an absent svc.yaml is an empty one
  }
  const loaded = loadProject(text, directory);
  if (loaded.ok) return loaded;
  const problems = loaded.problems.map(inProjectFile).map((problem) => withNaming(problem, text));
  return { ok: false, problems, named: guess(text, directory) };
}

/** Nothing of it is known but where it is. */
export const unreadProject = (root: string, problem: UnitProblem): ReadProject => ({
  ok: false,
  problems: [problem],
  named: { dag_id: basename(root), dag_source: PROJECT_DEFAULTS.dag_source },
});

function unreadable(code: string): UnitProblem {
  const reasons: Record<string, string> = { EISDIR: 'it is a directory', EINVAL: 'it is a pipe or a device' };
  const instead = 'Check that it is a file and its permissions';
  return { ...NOWHERE, file: PROJECT_FILE, message: `cannot be read: ${reasons[code] ?? code}`, instead };
}

function guess(text: string, directory: string): NamedDag {
  const value = (key: string): string | undefined =>
    new RegExp(String.raw`^${key}:[ \t]*["']?([A-Za-z0-9_./-]{1,200})["']?[ \t]*(?:#.*)?$`, 'm').exec(text)?.[1];
  return { dag_id: value('dag_id') ?? directory, dag_source: value('dag_source') ?? PROJECT_DEFAULTS.dag_source };
}

/** An id that nobody wrote can only be complained about together with where it comes from. */
function withNaming(problem: UnitProblem, text: string): UnitProblem {
  if (!problem.message.startsWith('dag_id is ') || /^["']?dag_id["']?\s*:/m.test(text)) return problem;
  return {
    ...problem,
    instead: `It is the name of the directory: set dag_id in ${PROJECT_FILE}, or rename the directory`,
  };
}
