/**
 * `svc deploy --prune`: deletes the DAGs that came from the deployed place and are no longer in it.
 *
 * A DAG comes from the place if its file was below the deployed path. The file is compared by its absolute path. In an
 * Airflow repository it is compared by the name of the repository and the path inside it, which are equal on every
 * machine.
 */
import { join, resolve, sep } from 'node:path';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import type { Dag } from '@svc/client/wire-types.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import type { CliContext } from '../context.ts';
import { printTable } from '../output/terminal.ts';
import { count } from '../output/wording.ts';
import { ask, canAsk } from '../prompt.ts';

type PruneOptions = { yes?: true; json?: true };

/** Asks the user, deletes the DAGs and returns their ids. */
export async function pruneDeployed(
  context: CliContext,
  input: { client: Client; path: string; units: readonly CompiledUnit[]; options: PruneOptions },
): Promise<string[]> {
  const { client, path, units, options } = input;
  const registered = await client.list('/api/v2/dags', 'dags', { query: { exclude_stale: false } });
  const gone = goneDags(registered, { path: resolve(path), units });
  if (gone.length === 0) {
    context.stderr.write('There is nothing to remove.\n');
    return [];
  }
  if (!options.json) show(context, gone);
  if (!options.yes) await confirm(context, gone, client.server);
  for (const { dag_id: dagId } of gone) await client.delete('/api/v2/dags/{dag_id}', { path: { dag_id: dagId } });
  if (!options.json) context.stdout.write(`Removed ${count(gone.length, 'DAG')}.\n`);
  return gone.map(({ dag_id: dagId }) => dagId);
}

function goneDags<D extends Pick<Dag, 'dag_id' | 'fileloc' | 'relative_fileloc' | 'bundle_name'>>(
  registered: readonly D[],
  { path, units }: { path: string; units: readonly CompiledUnit[] },
): D[] {
  const present = new Set(units.flatMap((unit) => (unit.ok ? unit.artifacts.map(({ dagId }) => dagId) : [])));
  const repositories = new Map(
    units.flatMap(({ unit, bundleName }) => (unit.repository ? [[bundleName, unit.repository.root] as const] : [])),
  );
  const isBelow = (file: string): boolean => file === path || file.startsWith(path + sep);
  return registered.filter(({ dag_id: dagId, fileloc, relative_fileloc: inside, bundle_name: bundle }) => {
    if (present.has(dagId)) return false;
    const root = bundle === null ? undefined : repositories.get(bundle);
    return isBelow(fileloc) || (root !== undefined && inside !== null && isBelow(join(root, inside)));
  });
}

function show({ stdout }: CliContext, gone: readonly Dag[]): void {
  stdout.write('No longer there:\n');
  printTable(stdout, {
    columns: [
      { title: 'DAG', value: (dag) => dag.dag_id },
      { title: 'WAS IN', value: (dag) => dag.relative_fileloc ?? dag.fileloc },
    ],
    rows: gone,
  });
}

async function confirm(context: CliContext, gone: readonly Dag[], server: string): Promise<void> {
  if (!canAsk(context)) {
    const names = gone.map(({ dag_id: dagId }) => dagId).join(', ');
    throw usageError(`--prune would remove ${names}, and there is nobody to ask`, 'add --yes');
  }
  const question = `Remove ${count(gone.length, 'DAG')} with all versions and runs from ${server}? [y/N] `;
  if (!/^y(es)?$/i.test((await ask(context, question)).trim())) throw new CliError('nothing was removed');
}
