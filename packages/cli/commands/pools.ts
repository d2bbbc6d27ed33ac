import type { Pool } from '@svc/client/wire-types.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printFields } from '../output/fields.ts';
import { printTable } from '../output/terminal.ts';
import { count } from '../output/wording.ts';
import type { SvcCommand } from '../svc-command.ts';

type SetOptions = ClientCommandOptions & { description?: string; includeDeferred?: boolean };
type PoolFields = { slots?: number; description?: string; include_deferred?: boolean };

export function addPoolsCommands(program: SvcCommand, context: CliContext): void {
  const pools = program.command('pools').description('Manage pools, which limit how many tasks run at once');

  withClientOptions(pools.command('list'))
    .description('List pools and how full they are')
    .action((options: ClientCommandOptions) => list(context, options));

  withClientOptions(pools.command('get'))
    .description('Show one pool')
    .argument('<name>', 'name of the pool')
    .action(async (name: string, options: ClientCommandOptions) => {
      const client = await connect(context, options);
      show(context, options, await client.get('/api/v2/pools/{pool_name}', { path: { pool_name: name } }));
    });

  withClientOptions(pools.command('set'))
    .description('Create a pool or change it')
    .argument('<name>', 'name of the pool')
    .argument('[slots]', 'number of slots; -1 for no limit (needed for a new pool)')
    .option('--description <text>', 'what it is for')
    .option('--include-deferred', 'deferred tasks keep their slots')
    .option('--no-include-deferred', 'deferred tasks give their slots back')
    .note('What is not given keeps its value. Write a limit of -1 after two hyphens: svc pools set etl -- -1')
    .example('three tasks at once', 'svc pools set warehouse 3 --description "connections of the warehouse"')
    .action((name: string, slots: string | undefined, options: SetOptions) => set(context, { name, slots, options }));

  withClientOptions(pools.command('delete'))
    .description('Delete pools')
    .argument('<names...>', 'names of the pools')
    .action((names: string[], options: ClientCommandOptions) => remove(context, names, options));
}

async function list(context: CliContext, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const pools = await client.list('/api/v2/pools', 'pools');
  if (options.json) {
    printJson(context, pools);
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'POOL', value: (row) => row.name },
      { title: 'SLOTS', value: (row) => slotsText(row.slots), align: 'right' },
      { title: 'OPEN', value: (row) => slotsText(row.open_slots), align: 'right' },
      { title: 'RUNNING', value: (row) => String(row.running_slots), align: 'right' },
      { title: 'QUEUED', value: (row) => String(row.queued_slots), align: 'right' },
      { title: 'DEFERRED', value: (row) => String(row.deferred_slots), align: 'right' },
      { title: 'DESCRIPTION', value: (row) => row.description ?? '' },
    ],
    rows: pools,
  });
}

function show(context: CliContext, options: ClientCommandOptions, pool: Pool): void {
  if (options.json) {
    printJson(context, pool);
    return;
  }
  printFields(context.stdout, [
    ['Pool', pool.name],
    ['Slots', slotsText(pool.slots)],
    ['Open', slotsText(pool.open_slots)],
    ['Running', String(pool.running_slots)],
    ['Queued', String(pool.queued_slots)],
    ['Scheduled', String(pool.scheduled_slots)],
    ['Deferred', String(pool.deferred_slots)],
    ['Counts deferred tasks', pool.include_deferred ? 'yes' : 'no'],
    ['Description', pool.description],
  ]);
}

/** The API says -1 for a pool without a limit. */
const slotsText = (slots: number): string => (slots === -1 ? 'no limit' : String(slots));

async function set(
  context: CliContext,
  input: { name: string; slots: string | undefined; options: SetOptions },
): Promise<void> {
  const { name, slots, options } = input;
  const fields: PoolFields = {
    ...(slots !== undefined && { slots: slotsOf(slots) }),
    ...(options.description !== undefined && { description: options.description }),
    ...(options.includeDeferred !== undefined && { include_deferred: options.includeDeferred }),
  };
  if (Object.keys(fields).length === 0) throw usageError('give the number of slots, or an option to change');
  const client = await connect(context, options);
  const pool = (await change(client, name, fields)) ?? (await create(client, name, fields));
  if (options.json) printJson(context, pool);
  else context.stdout.write(`Set ${name}: ${slotsText(pool.slots)}${pool.slots === -1 ? '' : ' slots'}.\n`);
}

function slotsOf(text: string): number {
  const slots = Number(text);
  if (!/^-?\d+$/.test(text) || slots < -1) {
    throw usageError(`${text} is not a number of slots`, 'give a whole number, or -1 for no limit');
  }
  return slots;
}

/** Returns undefined if the pool does not exist. */
async function change(client: Client, name: string, fields: PoolFields): Promise<Pool | undefined> {
  try {
    return await client.patch('/api/v2/pools/{pool_name}', { path: { pool_name: name }, body: fields });
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) return undefined;
    throw error;
  }
}

function create(client: Client, name: string, { slots, ...fields }: PoolFields): Promise<Pool> {
  if (slots === undefined) throw usageError(`there is no pool ${name}`, 'give its number of slots to create it');
  return client.post('/api/v2/pools', { body: { name, slots, ...fields } });
}

async function remove(context: CliContext, names: readonly string[], options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  for (const name of names) await client.delete('/api/v2/pools/{pool_name}', { path: { pool_name: name } });
  if (options.json) printJson(context, { deleted: names });
  else context.stdout.write(`Deleted ${count(names.length, 'pool')}.\n`);
}
