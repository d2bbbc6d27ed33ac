/**
 * `.env` of the repository that lite runs: what Astronomer's tools give to their containers, lite gives to tasks and to DAG
 * files. What is set already stays, and what belongs to the machine or to us is left alone.
 */
import { isForTasks } from '@svc/compiler/repository/repository.ts';
import { findRepository } from '@svc/compiler/repository/find-repository.ts';
import { repositoryFiles } from '@svc/compiler/repository/repository-files.ts';
import { environmentFile } from '@svc/compiler/repository/settings.ts';

export type AppliedEnvironment = { names: string[]; toImport: string[] };

export async function applyEnvironmentFile(workspace: string, env: NodeJS.ProcessEnv): Promise<AppliedEnvironment> {
  if (!(await findRepository(workspace))) return { names: [], toImport: [] };
  const given = Object.entries(environmentFile(repositoryFiles(workspace)));
  const fresh = given.filter(([name]) => isForTasks(name) && !isEntity(name) && env[name] === undefined);
  for (const [name, value] of fresh) env[name] = value;
  return { names: fresh.map(([name]) => name), toImport: given.map(([name]) => name).filter(isEntity) };
}

const isEntity = (name: string): boolean => /^AIRFLOW_(?:CONN|VAR)_/.test(name);

/** For the log of a start; undefined when there is nothing to say. Names only: the values may be secrets. */
export function describeEnvironment({ names, toImport }: AppliedEnvironment, workspace: string): string | undefined {
  const set = names.length === 0 ? [] : [`.env sets ${names.join(', ')} for tasks`];
  const open =
    toImport.length === 0
      ? []
      : [`${toImport.join(', ')} of .env: "svc import ${workspace}" makes connections and variables of them`];
  return [...set, ...open].join('; ') || undefined;
}
