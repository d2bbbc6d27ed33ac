import type { Bundle, BundleUpdate } from '@svc/client/wire-types.ts';
import { resolve } from 'node:path';
import { usageError } from '../cli-error.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printFields } from '../output/fields.ts';
import { printTable } from '../output/terminal.ts';
import { printable } from '../output/text.ts';
import { timeText } from '../output/wording.ts';
import type { SvcCommand } from '../svc-command.ts';
import { followSync, printEnd } from './follow-sync.ts';

type SettingsOptions = ClientCommandOptions & {
  ref?: string;
  folder?: string;
  conn?: string;
  poll?: string;
  onError?: string;
  commitUrl?: string;
  webhookConn?: string;
  adopt?: boolean;
  follow?: true;
};
type ChangeOptions = SettingsOptions & { url?: string };
type SyncOptions = ClientCommandOptions & { follow?: true };

const SHORT = 12;

export function addBundlesCommands(program: SvcCommand, context: CliContext): void {
  const bundles = program
    .command('bundles')
    .description('Sources of DAGs that the control plane keeps in step with: git repositories and folders');

  withSettings(withClientOptions(bundles.command('add')))
    .description('Deploy the DAGs of a git repository or a folder, now and with every new commit')
    .argument('<name>', 'name of the bundle')
    .argument('<source>', 'https://…, ssh://…, user@host:path, or a folder on the host of the control plane')
    .option('--follow', 'show the progress of the first sync, and fail when it fails')
    .example('a public repository', 'svc bundles add etl https://github.com/acme/etl.git --follow')
    .example('with a token, of one branch', 'svc bundles add etl https://github.com/acme/etl.git --conn git --ref main')
    .action((name: string, source: string, options: SettingsOptions) => add(context, name, source, options));

  withClientOptions(bundles.command('list'))
    .description('List bundles, what is current, and how their last sync ended')
    .action((options: ClientCommandOptions) => list(context, options));

  withClientOptions(bundles.command('show'))
    .description('Show the settings of a bundle, what is current, and what is wrong')
    .argument('<name>', 'name of the bundle')
    .action(async (name: string, options: ClientCommandOptions) => {
      const client = await connect(context, options);
      const bundle = await client.get('/api/v2/bundles/{bundle}', { path: { bundle: name } });
      if (options.json) printJson(context, bundle);
      else show(context, bundle, client.server);
    });

  withSettings(withClientOptions(bundles.command('change')))
    .description('Change the settings of a bundle; what is not given stays')
    .argument('<name>', 'name of the bundle')
    .option('--url <source>', 'another source')
    .option('--no-adopt', 'do not take over DAGs of "svc deploy"')
    .option('--follow', 'show the progress of the sync that follows, and fail when it fails')
    .example('another branch', 'svc bundles change etl --ref release')
    .action((name: string, options: ChangeOptions) => change(context, name, options));

  withClientOptions(bundles.command('sync'))
    .description('Look at the source now, and deploy its newest commit, also one that was undone')
    .argument('<name>', 'name of the bundle')
    .option('--follow', 'show the progress until it has ended, and fail when it fails')
    .action((name: string, options: SyncOptions) => sync(context, name, options));

  withClientOptions(bundles.command('remove'))
    .description('Remove a bundle with its deployments; its DAGs become stale and keep their history')
    .argument('<name>', 'name of the bundle')
    .action(async (name: string, options: ClientCommandOptions) => {
      const client = await connect(context, options);
      await client.delete('/api/v2/bundles/{bundle}', { path: { bundle: name } });
      if (options.json) printJson(context, { removed: name });
      else context.stdout.write(`Removed ${printable(name)}. Its DAGs are stale and keep their history.\n`);
    });
}

const withSettings = (command: SvcCommand): SvcCommand =>
  command
    .option('--ref <name>', 'branch or tag (default: the default branch)')
    .option('--folder <path>', 'folder of the repository below which the DAGs are')
    .option('--conn <id>', 'connection that opens the repository: a token as its password, or private_key in its extra')
    .option('--poll <seconds>', 'how often the source is looked at; 0: only with "svc bundles sync" (default: 60)')
    .option('--on-error <what>', 'refuse: a broken file stops the commit (default); partial: the rest is deployed')
    .option('--commit-url <link>', 'link to a commit with {commit}, for forges that svc does not know')
    .option('--webhook-conn <id>', 'connection whose password signs webhooks; an empty one takes none')
    .option('--adopt', 'take over DAGs that "svc deploy" has registered');

function settingsOf(options: SettingsOptions): BundleUpdate {
  const { ref, folder, conn, poll, onError, commitUrl, webhookConn, adopt } = options;
  if (poll !== undefined && !/^\d{1,5}$/.test(poll))
    throw usageError(`--poll ${poll} is no number of seconds`, 'write such as --poll 30');
  if (onError !== undefined && onError !== 'refuse' && onError !== 'partial')
    throw usageError(`--on-error ${onError} is unknown`, 'write refuse or partial');
  return {
    ...(ref !== undefined && { ref }),
    ...(folder !== undefined && { folder: folder.replace(/^\.\//, '').replace(/\/+$/, '') }),
    ...(conn !== undefined && { conn_id: conn === '' ? null : conn }),
    ...(poll !== undefined && { poll_seconds: Number(poll) }),
    ...(onError !== undefined && { on_error: onError }),
    ...(commitUrl !== undefined && { commit_url: commitUrl === '' ? null : commitUrl }),
    ...(webhookConn !== undefined && { webhook_conn_id: webhookConn === '' ? null : webhookConn }),
    ...(adopt !== undefined && { adopt }),
  };
}

/** A path is a repository when it looks like one; otherwise it is a folder. */
function sourceOf(source: string): { kind: 'git' | 'folder'; url: string } {
  if (/^[a-z+]+:\/\//i.test(source) || /^[\w.-]+@[\w.-]+:/.test(source)) return { kind: 'git', url: source };
  const path = resolve(source);
  return { kind: path.endsWith('.git') ? 'git' : 'folder', url: path };
}

async function add(context: CliContext, name: string, source: string, options: SettingsOptions): Promise<void> {
  const body = { name, ...sourceOf(source), ...settingsOf(options) };
  const client = await connect(context, options);
  const bundle = await client.post('/api/v2/bundles', { body });
  if (options.follow) {
    printEnd(context, await followSync(context, client, bundle, options), options);
    return;
  }
  if (options.json) printJson(context, bundle);
  else
    context.stdout.write(
      `Added ${name}. It is being fetched: "svc bundles sync ${name} --follow" shows how it goes.\n`,
    );
}

async function change(context: CliContext, name: string, { url, ...options }: ChangeOptions): Promise<void> {
  const body = { ...settingsOf(options), ...(url !== undefined && { url: sourceOf(url).url }) };
  if (Object.keys(body).length === 0) throw usageError('nothing is to be changed: give an option such as --ref');
  const client = await connect(context, options);
  const changed = await client.patch('/api/v2/bundles/{bundle}', { path: { bundle: name }, body });
  if (options.follow) return sync(context, name, { ...options, follow: true });
  if (options.json) printJson(context, changed);
  else context.stdout.write(`Changed ${name}.\n`);
}

async function sync(context: CliContext, name: string, options: SyncOptions): Promise<void> {
  const client = await connect(context, options);
  const asked = await client.post('/api/v2/bundles/{bundle}/sync', { path: { bundle: name } });
  if (options.follow) {
    printEnd(context, await followSync(context, client, asked, options), options);
    return;
  }
  if (options.json) printJson(context, asked);
  else context.stdout.write(`A sync of ${name} was asked for: "svc bundles show ${name}" shows how it ended.\n`);
}

async function list(context: CliContext, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const bundles = await client.list('/api/v2/bundles', 'bundles');
  if (options.json) {
    printJson(context, bundles);
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'BUNDLE', value: (row) => row.name },
      { title: 'SOURCE', value: (row) => `${row.url}${row.ref === '' ? '' : ` ${row.ref}`}` },
      { title: 'DEPLOYMENT', value: ({ current }) => (current ? String(current.deployment) : '-'), align: 'right' },
      { title: 'COMMIT', value: ({ current }) => current?.version.slice(0, SHORT) ?? '-' },
      { title: 'SINCE', value: ({ current }) => timeText(current?.deployed_at ?? null) },
      { title: 'SYNC', value: (row) => row.sync.state },
    ],
    rows: bundles,
  });
}

function show(context: CliContext, bundle: Bundle, server: string): void {
  const { current, sync: last } = bundle;
  printFields(context.stdout, [
    ['Bundle', bundle.name],
    ['Source', bundle.url],
    ['Branch or tag', bundle.kind === 'git' ? bundle.ref || 'the default branch' : null],
    ['Folder', bundle.folder || null],
    ['Connection', bundle.conn_id],
    ['Looked at', bundle.poll_seconds === 0 ? 'when asked' : `every ${bundle.poll_seconds} s`],
    ['Webhook', bundle.webhook_conn_id && `${server}/api/v2/bundles/${bundle.name}/webhook`],
    ['A broken file', bundle.on_error === 'refuse' ? 'stops the commit' : 'is left out'],
    ['Deployment', current ? `${current.deployment}, since ${timeText(current.deployed_at)} UTC` : 'none yet'],
    ['Commit', current?.version ?? null],
    ['Author', current?.author || null],
    ['Message', current?.message.split('\n')[0] || null],
    ['Link', current?.url ?? null],
    ['Last look', last.checked_at === null ? 'not yet' : `${timeText(last.checked_at)} UTC`],
    ['Sync', last.text === '' ? last.state : `${last.state}: ${last.text}`],
  ]);
  if (last.problems.length === 0) return;
  context.stdout.write(`\nBroken in ${(last.version ?? '').slice(0, SHORT)}:\n`);
  for (const { file, line, message } of last.problems) {
    const place = file === '' ? '' : `${file}${line === null ? '' : `:${line}`}: `;
    context.stdout.write(`  ${printable(place + message)}\n`);
  }
}
