import { parseDuration } from '@svc/server/config/duration.ts';
import type { IssuedWorkerToken, Worker, WorkerToken } from '@svc/client/wire-types.ts';
import { CliError, usageError } from '../cli-error.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printTable } from '../output/terminal.ts';
import type { SvcCommand } from '../svc-command.ts';

type ListOptions = ClientCommandOptions & { kind?: Worker['kind']; queue?: string; state?: Worker['state'] };
type DrainOptions = ClientCommandOptions & { why?: string };
type TokenOptions = ClientCommandOptions & { queue: string[]; expires?: string; comment?: string };

export function addWorkersCommands(program: SvcCommand, context: CliContext): void {
  const workers = program.command('workers').description('Workers that run tasks, and tokens to join with');

  withClientOptions(workers.command('list'))
    .description('List workers: what they serve, how busy they are, when they were last heard of')
    .option('--kind <kind>', 'local, warm or remote')
    .option('--queue <name>', 'only those of this queue, or pool')
    .option('--state <state>', 'starting, idle, busy, draining, lost or gone')
    .action((options: ListOptions) => list(context, options));

  withClientOptions(workers.command('show'))
    .description('Everything that is known of a worker')
    .argument('<worker>', 'its name or id')
    .action((worker: string, options: ClientCommandOptions) => show(context, worker, options));

  withClientOptions(workers.command('drain'))
    .description('Let a worker take no more tasks, end what it runs, and leave')
    .argument('<worker>', 'its name or id')
    .option('--why <text>', 'shown to those who look at it later')
    .example('before maintenance', 'svc workers drain gpu-host-1 --why "new driver"')
    .action((worker: string, options: DrainOptions) => drain(context, worker, options));

  withClientOptions(workers.command('create-token'))
    .description('Print a token with which workers on other hosts may join, once')
    .requiredOption('--queue <names>', 'queues they may serve, separated by commas', splitQueues)
    .option('--expires <duration>', 'nobody joins with it later than that, such as 12h (default: until it is revoked)')
    .option('--comment <text>', 'what it is for')
    .example('for GPU hosts', 'svc workers create-token --queue gpu --comment "rack 4" > token.txt')
    .action((options: TokenOptions) => createToken(context, options));

  withClientOptions(workers.command('tokens'))
    .description('List the tokens with which workers may join')
    .action((options: ClientCommandOptions) => listTokens(context, options));

  withClientOptions(workers.command('revoke-token'))
    .description('Nobody joins with the token any more, and workers that have joined with it get nothing more')
    .argument('<token>', 'its id, or how it begins ("svc workers tokens" shows both)')
    .action((token: string, options: ClientCommandOptions) => revokeToken(context, token, options));
}

const splitQueues = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

async function list(context: CliContext, { kind, queue, state, ...options }: ListOptions): Promise<void> {
  const client = await connect(context, options);
  const query = { ...(kind && { kind }), ...(queue && { pool: queue }), ...(state && { state }) };
  const workers = await client.list('/api/v2/workers', 'workers', { query });
  if (options.json) {
    printJson(context, workers);
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'NAME', value: (worker: Worker) => worker.name },
      { title: 'KIND', value: (worker) => worker.kind },
      { title: 'POOL', value: (worker) => worker.pool },
      { title: 'STATE', value: (worker) => worker.state },
      { title: 'RUNNING', value: ({ running, slots }) => `${running} of ${slots}` },
      { title: 'SERVED', value: (worker) => String(worker.attempts_served) },
      { title: 'HOST', value: (worker) => worker.hostname },
      { title: 'VERSION', value: (worker) => worker.agent_version },
      { title: 'LAST SEEN', value: (worker) => moment(worker.last_seen_at) },
      { title: 'ID', value: (worker) => worker.id },
    ],
    rows: workers,
  });
}

type Client = Awaited<ReturnType<typeof connect>>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Finds a worker by id, or by the name of a live worker. If no live worker has the name, the last one that had it is
 * returned.
 */
async function findWorker(client: Client, nameOrId: string): Promise<Worker> {
  if (UUID.test(nameOrId)) return client.get('/api/v2/workers/{worker_id}', { path: { worker_id: nameOrId } });
  const named = await client.list('/api/v2/workers', 'workers', { query: { name: nameOrId } });
  const there = named.filter(({ state }) => state !== 'gone' && state !== 'lost');
  if (there.length > 1) {
    const ids = there.map(({ id, hostname }) => `${id} on ${hostname}`).join(', ');
    throw usageError(`${there.length} workers are called ${nameOrId}: name one by its id (${ids})`);
  }
  const found = there[0] ?? named.toSorted((a, b) => b.last_seen_at.localeCompare(a.last_seen_at))[0];
  if (!found) throw new CliError(`there is no worker ${nameOrId}: "svc workers list" shows those there are`);
  return found;
}

async function show(context: CliContext, nameOrId: string, options: ClientCommandOptions): Promise<void> {
  const worker = await findWorker(await connect(context, options), nameOrId);
  if (options.json) {
    printJson(context, worker);
    return;
  }
  const facts: [string, string | number | null][] = [
    ['Name', worker.name],
    ['Id', worker.id],
    ['Kind', worker.kind],
    ['Pool', worker.pool],
    ['Queues', worker.queues.join(', ')],
    ['DAG', worker.dag_id === null ? null : `${worker.dag_id}, version ${worker.version_number}`],
    ['State', worker.state],
    ['Running', `${worker.running} of ${worker.slots}`],
    ['Attempts served', worker.attempts_served],
    ['Host', `${worker.hostname}${worker.pid === null ? '' : `, process ${worker.pid}`}`],
    ['Agent', worker.agent_version],
    ['Started', `${moment(worker.started_at)} UTC`],
    ['Last seen', `${moment(worker.last_seen_at)} UTC`],
    ['Token', worker.token_id],
    ['Drain asked for', drainText(worker)],
    ['Ended', worker.ended_why],
  ];
  const shown = facts.filter(([, value]) => value !== null && value !== '');
  const width = Math.max(...shown.map(([title]) => title.length));
  for (const [title, value] of shown) context.stdout.write(`${title.padEnd(width)}  ${value}\n`);
}

function drainText({ drain_requested_at: at, drain_requested_by: by, drain_why: why }: Worker): string | null {
  if (at === null) return null;
  return `${moment(at)} UTC by ${by}${why === null || why === '' ? '' : `: ${why}`}`;
}

async function drain(context: CliContext, nameOrId: string, options: DrainOptions): Promise<void> {
  const client = await connect(context, options);
  const { id } = await findWorker(client, nameOrId);
  const body = options.why === undefined ? {} : { why: options.why };
  const worker = await client.post('/api/v2/workers/{worker_id}/drain', { path: { worker_id: id }, body });
  if (options.json) printJson(context, worker);
  else {
    const left = worker.running === 0 ? 'It runs nothing' : `It runs ${worker.running}`;
    context.stdout.write(`${worker.name} takes no more tasks and leaves when it is done. ${left}.\n`);
  }
}

async function createToken(context: CliContext, options: TokenOptions): Promise<void> {
  if (options.queue.length === 0) throw usageError('--queue names no queue: write such as --queue gpu,big');
  const body = {
    queues: options.queue,
    ...(options.comment !== undefined && { comment: options.comment }),
    ...expiryOf(options),
  };
  const client = await connect(context, options);
  const issued = await client.post('/api/v2/workerTokens', { body });
  if (options.json) printJson(context, issued);
  else printToken(context, issued);
}

/**
 * Prints only the token on standard output, so that it can be stored. Information for people goes to standard error.
 */
function printToken(context: CliContext, { queues, expires_at: at, token }: IssuedWorkerToken): void {
  const until = at === null ? 'until it is revoked' : `until ${moment(at)} UTC`;
  context.stderr.write(
    `Workers for ${queues.join(', ')} may join with this token ${until}. It is shown this once.\n` +
      'On their host: svc-agent work --server <host:port of server.grpc_addr> --token-file <file> --ca-file <certificate>\n',
  );
  context.stdout.write(`${token}\n`);
}

function expiryOf({ expires }: TokenOptions): { expires_in?: number } {
  if (expires === undefined) return {};
  const milliseconds = parseDuration(expires);
  if (milliseconds === undefined || milliseconds <= 0)
    throw usageError(`--expires ${expires} is no duration: write such as 30d or 12h`);
  return { expires_in: Math.round(milliseconds / 1_000) };
}

async function listTokens(context: CliContext, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const tokens = await client.list('/api/v2/workerTokens', 'worker_tokens');
  if (options.json) {
    printJson(context, tokens);
    return;
  }
  const now = Date.now();
  printTable(context.stdout, {
    columns: [
      { title: 'TOKEN', value: (token: WorkerToken) => `${token.token_start}…` },
      { title: 'QUEUES', value: (token) => token.queues.join(', ') },
      {
        title: 'EXPIRES',
        value: ({ expires_at: at }) =>
          at === null ? 'never' : Date.parse(at) <= now ? `expired ${moment(at)}` : moment(at),
      },
      { title: 'LAST USED', value: ({ last_used_at: at }) => (at === null ? 'never' : moment(at)) },
      { title: 'CREATED BY', value: (token) => token.created_by },
      { title: 'COMMENT', value: (token) => token.comment },
      { title: 'ID', value: (token) => token.id },
    ],
    rows: tokens,
  });
}

async function revokeToken(context: CliContext, idOrStart: string, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const tokens = await client.list('/api/v2/workerTokens', 'worker_tokens');
  const meant = tokens.filter(({ id, token_start: start }) => id === idOrStart || idOrStart.startsWith(start));
  const [token] = meant;
  if (!token)
    throw new CliError(`there is no token ${idOrStart.slice(0, 40)}: "svc workers tokens" shows those there are`);
  if (meant.length > 1) throw usageError(`${meant.length} tokens begin with ${token.token_start}: name one by its id`);
  await client.delete('/api/v2/workerTokens/{worker_token_id}', { path: { worker_token_id: token.id } });
  if (options.json) printJson(context, { revoked: token.id });
  else context.stdout.write(`Revoked ${token.token_start}… Workers that joined with it get nothing more.\n`);
}

const moment = (text: string): string => text.slice(0, 16).replace('T', ' ');
