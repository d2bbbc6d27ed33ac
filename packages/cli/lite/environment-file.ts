/**
 * The `.env` file of the repository that lite runs. Lite passes its variables to tasks and DAG files, as Astronomer's
 * tools pass them to their containers. Existing variables stay, and variables of the machine or of svc are skipped.
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

/**
 * Describes the result for the log of a start, or returns undefined. It contains only names, because values may be
 * secrets.
 */
export function describeEnvironment({ names, toImport }: AppliedEnvironment, workspace: string): string | undefined {
  const set = names.length === 0 ? [] : [`.env sets ${names.join(', ')} for tasks`];
  const open =
    toImport.length === 0
      ? []
      : [`${toImport.join(', ')} of .env: "svc import ${workspace}" makes connections and variables of them`];
  return [...set, ...open].join('; ') || undefined;
}
