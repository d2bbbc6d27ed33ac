import type { Connection } from '@svc/client/wire-types.ts';
import { bulkCreate } from '../client/bulk.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson, warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { connectionOf, exportedConnection, holdsMaskedSecret } from '../files/connection-file.ts';
import { formatOf, readEntries, renderEntries, writeOutput } from '../files/structured-file.ts';
import { printFields } from '../output/fields.ts';
import { printTable } from '../output/terminal.ts';
import { count } from '../output/wording.ts';
import { withPasswordOptions } from '../secret-input.ts';
import type { SvcCommand } from '../svc-command.ts';
import { bodyFromOptions } from './connection-options.ts';
import type { ConnectionFieldOptions } from './connection-options.ts';
import { reportImport, withExportOptions, withImportOptions } from '../files/transfer-options.ts';
import type { ExportOptions, ImportOptions } from '../files/transfer-options.ts';

export function addConnectionsCommands(program: SvcCommand, context: CliContext): void {
  const connections = program
    .command('connections')
    .description('Manage connections; their secrets can be set, never read');

  withClientOptions(connections.command('list'))
    .description('List connections')
    .action((options: ClientCommandOptions) => list(context, options));

  withClientOptions(connections.command('get'))
    .description('Show one connection')
    .argument('<id>', 'connection id')
    .action((id: string, options: ClientCommandOptions) => get(context, id, options));

  addSet(connections, context);

  withClientOptions(connections.command('delete'))
    .description('Delete connections')
    .argument('<ids...>', 'connection ids')
    .action((ids: string[], options: ClientCommandOptions) => remove(context, ids, options));

  withImportOptions(connections.command('import'))
    .description('Create or change connections from a file: a map of ids to objects or connection URIs')
    .example('what Airflow wrote with "airflow connections export"', 'svc connections import connections.json')
    .action((file: string, options: ImportOptions) => importFile(context, file, options));

  withExportOptions(connections.command('export'))
    .description('Write all connections to a file, without their secrets')
    .example('as YAML', 'svc connections export --format yaml --file connections.yaml')
    .action((options: ExportOptions) => exportAll(context, options));
}

function addSet(connections: SvcCommand, context: CliContext): void {
  const set = withClientOptions(connections.command('set'))
    .description('Create a connection, or change the fields that are given')
    .argument('<id>', 'connection id')
    .option('--conn-type <type>', 'postgres, http, aws, … (needed for a new connection)')
    .option('--host <text>', 'host')
    .option('--login <text>', 'user name at the host')
    .option('--port <number>', 'port')
    .option('--schema <text>', 'database or schema')
    .option('--extra <json>', 'everything else, usually a JSON object; "-" reads it from standard input')
    .option('--description <text>', 'what it is for')
    .option('--uri <uri>', 'the whole connection as conn-type://login:password@host:port/schema?extra; "-" reads it');
  withPasswordOptions(set, 'the password')
    .note('A field that is not given keeps its value; an empty one (--host "") is cleared.')
    .example(
      'a database',
      'svc connections set my_db --conn-type postgres --host db.example.com --port 5432 --login app --password-stdin < password.txt',
    )
    .example('from a URI that stays out of the process list', 'svc connections set my_db --uri - < uri.txt')
    .example('change one field', 'svc connections set my_db --host db2.example.com')
    .action(async (id: string, options: ClientCommandOptions & ConnectionFieldOptions) => {
      const client = await connect(context, options);
      const body = await bodyFromOptions({ context, client, id, options });
      show(context, options, await client.post('/api/v2/connections', { body }));
    });
}

async function list(context: CliContext, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const connections = await client.list('/api/v2/connections', 'connections');
  if (options.json) {
    printJson(context, connections);
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'ID', value: (row) => row.connection_id },
      { title: 'TYPE', value: (row) => row.conn_type },
      { title: 'HOST', value: (row) => row.host ?? '' },
      { title: 'PORT', value: (row) => (row.port === null ? '' : String(row.port)), align: 'right' },
      { title: 'SCHEMA', value: (row) => row.schema ?? '' },
      { title: 'LOGIN', value: (row) => row.login ?? '' },
      { title: 'DESCRIPTION', value: (row) => row.description ?? '' },
    ],
    rows: connections,
  });
}

async function get(context: CliContext, id: string, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  show(context, options, await client.get('/api/v2/connections/{connection_id}', { path: { connection_id: id } }));
}

function show(context: CliContext, options: ClientCommandOptions, connection: Connection): void {
  if (options.json) {
    printJson(context, connection);
    return;
  }
  const { connection_id: id, conn_type: type, host, port, schema, login, extra, description } = connection;
  printFields(context.stdout, [
    ['Id', id],
    ['Type', type],
    ['Host', host],
    ['Port', port],
    ['Schema', schema],
    ['Login', login],
    ['Extra', extra],
    ['Description', description],
  ]);
}

async function remove(context: CliContext, ids: readonly string[], options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  for (const id of ids) await client.delete('/api/v2/connections/{connection_id}', { path: { connection_id: id } });
  if (options.json) printJson(context, { deleted: ids });
  else context.stdout.write(`Deleted ${count(ids.length, 'connection')}.\n`);
}

async function importFile(context: CliContext, file: string, options: ImportOptions): Promise<void> {
  const entries = await readEntries(context, file, formatOf(file === '-' ? undefined : file, options.format));
  const bodies = entries.map(connectionOf);
  const client = await connect(context, options);
  const masked = bodies.filter(holdsMaskedSecret);
  if (masked.length > 0) {
    const existing = new Set((await client.list('/api/v2/connections', 'connections')).map((row) => row.connection_id));
    for (const { connection_id: id } of masked.filter((body) => !existing.has(body.connection_id))) {
      warn(context, `${id} is new here and its secrets are *** in the file: set them with "svc connections set ${id}"`);
    }
  }
  const written = options.dryRun
    ? []
    : await bulkCreate({
        entities: bodies,
        onExisting: options.onExisting,
        send: (action) => client.patch('/api/v2/connections', { body: { actions: [action] } }),
      });
  reportImport(context, options, { noun: 'connection', names: bodies.map((body) => body.connection_id), written });
}

async function exportAll(context: CliContext, options: ExportOptions): Promise<void> {
  const format = formatOf(options.file, options.format);
  const client = await connect(context, options);
  const connections = await client.list('/api/v2/connections', 'connections');
  const text = await renderEntries(
    connections.map((connection) => exportedConnection(connection, format)),
    format,
  );
  writeOutput(context, options.file, text);
  context.stderr.write(
    `Exported ${count(connections.length, 'connection')} without secrets: passwords are left out, secret parts of extra are ***.\n`,
  );
}
