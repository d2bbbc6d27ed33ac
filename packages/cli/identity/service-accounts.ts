import { parseDuration } from '@svc/server/config/duration.ts';
import type { IssuedServiceAccount, NewServiceAccount, ServiceAccount } from '@svc/client/wire-types.ts';
import { usageError } from '../cli-error.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printTable } from '../output/terminal.ts';
import type { SvcCommand } from '../svc-command.ts';

type ExpiryOption = { expiresIn?: string };
const ONE = '/api/v2/serviceAccounts/{service_account}';

const withExpiry = (command: SvcCommand): SvcCommand =>
  withClientOptions(command).option('--expires-in <duration>', 'such as 30d or 12h; a year at most (default: 90d)');

export function addServiceAccountsCommands(program: SvcCommand, context: CliContext): void {
  const accounts = program.command('service-accounts').description('Tokens for programs, with a role and an expiry');

  withExpiry(accounts.command('create'))
    .description('Create a service account and print its token, once')
    .argument('<name>', 'small letters, digits, ".", "-" and "_"')
    .requiredOption('--role <name>', 'what it may do: viewer, operator, editor or admin')
    .example('for a pipeline', 'svc service-accounts create ci-deploy --role operator --expires-in 30d > token.txt')
    .action((name: string, options: ClientCommandOptions & ExpiryOption & { role: NewServiceAccount['role'] }) =>
      create(context, name, options),
    );

  withClientOptions(accounts.command('list'))
    .description('List service accounts, when they expire and when they were last used')
    .action((options: ClientCommandOptions) => list(context, options));

  withExpiry(accounts.command('rotate'))
    .description('Print a new token of a service account, once; the old one is refused from then on')
    .argument('<name>', 'name of the service account')
    .action((name: string, options: ClientCommandOptions & ExpiryOption) => rotate(context, name, options));

  withClientOptions(accounts.command('revoke'))
    .description('End a service account; its token is refused from then on')
    .argument('<name>', 'name of the service account')
    .action((name: string, options: ClientCommandOptions) => revoke(context, name, options));
}

async function create(
  context: CliContext,
  name: string,
  options: ClientCommandOptions & ExpiryOption & { role: NewServiceAccount['role'] },
): Promise<void> {
  const body = { name, role: options.role, ...expiryOf(options) };
  const client = await connect(context, options);
  printToken(context, options, await client.post('/api/v2/serviceAccounts', { body }));
}

async function rotate(context: CliContext, name: string, options: ClientCommandOptions & ExpiryOption): Promise<void> {
  const body = expiryOf(options);
  const client = await connect(context, options);
  printToken(context, options, await client.post(`${ONE}/rotate`, { path: { service_account: name }, body }));
}

async function revoke(context: CliContext, name: string, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  await client.delete(ONE, { path: { service_account: name } });
  if (options.json) printJson(context, { revoked: name });
  else context.stdout.write(`Revoked ${name}.\n`);
}

function expiryOf({ expiresIn }: ExpiryOption): { expires_in?: number } {
  if (expiresIn === undefined) return {};
  const milliseconds = parseDuration(expiresIn);
  if (milliseconds === undefined || milliseconds <= 0)
    throw usageError(`--expires-in ${expiresIn} is no duration: write such as 30d or 12h`);
  return { expires_in: Math.round(milliseconds / 1_000) };
}

/**
 * Prints only the token on standard output, so that it can be stored. Information for people goes to standard error.
 */
function printToken(context: CliContext, options: ClientCommandOptions, account: IssuedServiceAccount): void {
  if (options.json) {
    printJson(context, account);
    return;
  }
  context.stderr.write(
    `The token of ${account.name} (${account.role}) is shown this once. It expires ${moment(account.expires_at)} UTC.\n`,
  );
  context.stdout.write(`${account.token}\n`);
}

async function list(context: CliContext, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const accounts = await client.list('/api/v2/serviceAccounts', 'service_accounts');
  if (options.json) {
    printJson(context, accounts);
    return;
  }
  const now = Date.now();
  printTable(context.stdout, {
    columns: [
      { title: 'NAME', value: (account: ServiceAccount) => account.name },
      { title: 'ROLE', value: (account) => account.role },
      { title: 'TOKEN', value: (account) => `${account.token_start}…` },
      {
        title: 'EXPIRES',
        value: ({ expires_at: at }) => (Date.parse(at) <= now ? `expired ${moment(at)}` : moment(at)),
      },
      { title: 'LAST USED', value: ({ last_used_at: at }) => (at === null ? 'never' : moment(at)) },
      { title: 'CREATED BY', value: (account) => account.created_by },
    ],
    rows: accounts,
  });
}

const moment = (text: string): string => text.slice(0, 16).replace('T', ' ');
