import type { User, UserUpdate } from '@svc/client/wire-types.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { addGrantAdminCommand } from '../identity/grant-admin.ts';
import { printTable } from '../output/terminal.ts';
import { requirePassword, withPasswordOptions } from '../secret-input.ts';
import type { PasswordOptions } from '../secret-input.ts';
import type { SvcCommand } from '../svc-command.ts';

/** Roles as typed. The control plane refuses unknown ones. */
type Roles = NonNullable<UserUpdate['roles']>;
const ROLES = 'viewer, operator, editor or admin';

export function addUsersCommands(program: SvcCommand, context: CliContext): void {
  const users = program.command('users').description('Manage the users of your tenant');
  const change = (name: string): SvcCommand =>
    withClientOptions(users.command(name)).argument('<user>', 'email address or id');

  withClientOptions(users.command('list'))
    .description('List users, newest first')
    .action((options: ClientCommandOptions) => list(context, options));

  withPasswordOptions(withClientOptions(users.command('create')), 'the password of the new user')
    .description('Create a user')
    .argument('<email>', 'address the user logs in with')
    .option('--role <name>', `role to grant: ${ROLES}; may be repeated`, collect, [])
    .option('--sso', 'without a password: the user signs in at the identity provider, by this address')
    .example('asks for the password', 'svc users create ana@example.com --role editor')
    .action((email: string, options: CreateOptions) => create(context, email, options));

  change('activate')
    .description('Let a user log in again')
    .action((user: string, options: ClientCommandOptions) => update(context, user, options, { is_active: true }));

  change('deactivate')
    .description('Lock a user out; ends all sessions of that user at once')
    .action((user: string, options: ClientCommandOptions) => update(context, user, options, { is_active: false }));

  change('delete')
    .description('Delete a user; ends all sessions of that user at once')
    .action((user: string, options: ClientCommandOptions) => remove(context, user, options));

  change('set-roles')
    .description('Replace the roles of a user')
    .argument('[roles...]', `the roles from now on: ${ROLES}; none takes all away`)
    .example('exactly one role', 'svc users set-roles ana@example.com viewer')
    .action((user: string, roles: Roles, options: ClientCommandOptions) => update(context, user, options, { roles }));

  change('release')
    .description('Release a user from its account at the identity provider; ends all sessions of that user')
    .note('Whoever next signs in there with the verified e-mail address of the user becomes this user.')
    .action(async (user: string, options: ClientCommandOptions) => {
      const client = await connect(context, options);
      const id = await idOf(client, user);
      await client.delete('/api/v2/users/{user_id}/identities', { path: { user_id: id } });
      if (options.json) printJson(context, { id });
      else context.stdout.write(`${user} is released: the next sign-in with its address binds it again.\n`);
    });

  withPasswordOptions(change('set-password'), 'the new password')
    .description('Give a user a new password; ends all sessions of that user')
    .action(async (user: string, options: ClientCommandOptions & PasswordOptions) => {
      const password = await requirePassword(context, { ...options, question: 'New password: ', twice: true });
      await update(context, user, options, { password });
    });

  addGrantAdminCommand(users, context);
}

async function list(context: CliContext, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const users = await client.list('/api/v2/users', 'users');
  print(context, options, users);
}

type CreateOptions = ClientCommandOptions & PasswordOptions & { role: Roles; sso?: true };

async function create(context: CliContext, email: string, options: CreateOptions): Promise<void> {
  const question = { question: `Password of ${email}: `, twice: true };
  const password = options.sso ? undefined : await requirePassword(context, { ...options, ...question });
  const client = await connect(context, options);
  const body = { email, ...(password !== undefined && { password }), roles: options.role };
  const user = await client.post('/api/v2/users', { body });
  print(context, options, [user]);
}

async function update(
  context: CliContext,
  name: string,
  options: ClientCommandOptions,
  body: UserUpdate,
): Promise<void> {
  const client = await connect(context, options);
  const user = await client.patch('/api/v2/users/{user_id}', { path: { user_id: await idOf(client, name) }, body });
  print(context, options, [user]);
}

async function remove(context: CliContext, name: string, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  await client.delete('/api/v2/users/{user_id}', { path: { user_id: await idOf(client, name) } });
  if (options.json) printJson(context, { deleted: name });
  else context.stdout.write(`Deleted ${name}.\n`);
}

/** Returns the id of a user. The API identifies users by id, people by address. */
async function idOf(client: Client, name: string): Promise<string> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name)) return name;
  const email = name.trim().toLowerCase();
  const users = await client.list('/api/v2/users', 'users');
  const user = users.find((candidate) => candidate.email === email);
  if (!user)
    throw new CliError(`there is no user ${name}`, { exitCode: EXIT.notFound, hint: 'svc users list shows all' });
  return user.id;
}

function print(context: CliContext, options: ClientCommandOptions, users: readonly User[]): void {
  if (options.json) {
    printJson(context, users);
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'EMAIL', value: (user) => user.email },
      { title: 'ROLES', value: (user) => user.roles.join(', ') },
      { title: 'ACTIVE', value: (user) => (user.is_active ? 'yes' : 'no') },
      { title: 'CREATED', value: (user) => user.created_at.slice(0, 19).replace('T', ' ') },
      { title: 'ID', value: (user) => user.id },
    ],
    rows: users,
  });
}

const collect = (value: string, previous: readonly string[]): string[] => [...previous, value];
