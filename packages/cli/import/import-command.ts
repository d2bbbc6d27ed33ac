/**
 * `svc import`: imports connections, variables and pools from a repository or from Airflow's exports into a control
 * plane.
 */
import { Option } from 'commander';
import { EXIT, CliError } from '../cli-error.ts';
import { bulkCreate } from '../client/bulk.ts';
import type { Client } from '../client/client.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { holdsMaskedSecret } from '../files/connection-file.ts';
import { isMaskedSecret } from '../files/variable-file.ts';
import { printTable } from '../output/terminal.ts';
import type { SvcCommand } from '../svc-command.ts';
import { KINDS, lastOfEach } from './entities.ts';
import type { Found, Kind } from './entities.ts';

type Options = ClientCommandOptions & { as?: Kind; overwrite?: true; dryRun?: true };
type Status = 'created' | 'changed' | 'left';
type Row = { kind: Kind; name: string; from: string; status: Status; why: string };

const NOUN: Record<Kind, string> = { connections: 'connection', variables: 'variable', pools: 'pool' };

export function addImportCommand(program: SvcCommand, context: CliContext): void {
  withClientOptions(program.command('import'))
    .description(
      'Take over connections, variables and pools of an Airflow repository, or of files that Airflow has exported',
    )
    .argument(
      '<paths...>',
      'repository (airflow_settings.yaml, .env, connections.*, variables.*, pools.*), or single files',
    )
    .addOption(new Option('--as <kind>', 'what is in the files, when their names do not say it').choices(KINDS))
    .option('--overwrite', 'change those that exist; without it they are left as they are')
    .option('--dry-run', 'say what would be done, change nothing')
    .note(
      'Of .env, AIRFLOW_CONN_ and AIRFLOW_VAR_ become connections and variables; svc lite gives the other names to tasks.\nA value that is *** in a file stands for one that is stored: it never overwrites a secret.',
    )
    .example('what an Astronomer project has', 'svc import my-project')
    .example('what Airflow wrote with "airflow pools export"', 'svc import pools.json --overwrite')
    .action((paths: string[], options: Options) => importPaths(context, paths, options));
}

async function importPaths(context: CliContext, paths: readonly string[], options: Options): Promise<void> {
  const { readSources } = await import('./read-sources.ts');
  const all: Found[] = [];
  for (const path of paths) all.push(...(await readSources(context, path, options.as)));
  const found = lastOfEach(all);
  if (found.length === 0) {
    throw new CliError(`there is nothing to import in ${paths.join(', ')}`, {
      exitCode: EXIT.notFound,
      hint: 'a repository has airflow_settings.yaml, .env with AIRFLOW_CONN_ or AIRFLOW_VAR_, connections.*, variables.* or pools.*',
    });
  }
  const client = await connect(context, options);
  const existing = await namesThere(client, found);
  const rows = found.map((entity): Row => ({ ...rowOf(entity), ...decide(entity, existing[entity.kind], options) }));
  if (!options.dryRun)
    await write(
      client,
      found.filter((_, index) => rows[index]?.status !== 'left'),
    );
  if (options.json) {
    printJson(context, { dry_run: options.dryRun === true, entities: rows });
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'KIND', value: (row) => NOUN[row.kind] },
      { title: 'NAME', value: (row) => row.name },
      { title: 'FROM', value: (row) => row.from },
      {
        title: 'STATUS',
        value: (row) => (options.dryRun && row.status !== 'left' ? `would be ${row.status}` : row.status),
      },
      { title: '', value: (row) => row.why },
    ],
    rows,
  });
}

const rowOf = ({ kind, name, file }: Found): Pick<Row, 'kind' | 'name' | 'from'> => ({ kind, name, from: file });

function decide(entity: Found, there: ReadonlySet<string>, options: Options): Pick<Row, 'status' | 'why'> {
  if (there.has(entity.name)) {
    return options.overwrite
      ? { status: 'changed', why: '' }
      : { status: 'left', why: 'it exists; --overwrite changes it' };
  }
  const isMasked =
    (entity.kind === 'connections' && holdsMaskedSecret(entity.body)) ||
    (entity.kind === 'variables' && isMaskedSecret(entity.body));
  // A mask stands for a stored value. If none is stored, writing the mask would only look like a secret.
  return isMasked
    ? { status: 'left', why: 'its secret is *** in the file; set it by hand' }
    : { status: 'created', why: '' };
}

async function namesThere(client: Client, found: readonly Found[]): Promise<Record<Kind, ReadonlySet<string>>> {
  const wanted = new Set(found.map(({ kind }) => kind));
  const [connections, variables, pools] = await Promise.all([
    wanted.has('connections') ? client.list('/api/v2/connections', 'connections') : [],
    wanted.has('variables') ? client.list('/api/v2/variables', 'variables') : [],
    wanted.has('pools') ? client.list('/api/v2/pools', 'pools') : [],
  ]);
  return {
    connections: new Set(connections.map((row) => row.connection_id)),
    variables: new Set(variables.map((row) => row.key)),
    pools: new Set(pools.map((row) => row.name)),
  };
}

async function write(client: Client, found: readonly Found[]): Promise<void> {
  const onExisting = 'overwrite';
  const connections = found.flatMap((entity) => (entity.kind === 'connections' ? [entity.body] : []));
  const variables = found.flatMap((entity) => (entity.kind === 'variables' ? [entity.body] : []));
  const pools = found.flatMap((entity) => (entity.kind === 'pools' ? [entity.body] : []));
  await bulkCreate({
    entities: connections,
    onExisting,
    send: (action) => client.patch('/api/v2/connections', { body: { actions: [action] } }),
  });
  await bulkCreate({
    entities: variables,
    onExisting,
    send: (action) => client.patch('/api/v2/variables', { body: { actions: [action] } }),
  });
  await bulkCreate({
    entities: pools,
    onExisting,
    send: (action) => client.patch('/api/v2/pools', { body: { actions: [action] } }),
  });
}
