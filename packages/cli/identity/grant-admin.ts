import { CliError, EXIT, usageError } from '../cli-error.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import type { SvcCommand } from '../svc-command.ts';
import {
  generatePassword,
  hostActor,
  onHostDatabase,
  readSecretPassword,
  withHostOptions,
  withSecretPasswordOptions,
} from './host.ts';
import type { HostOptions, SecretPasswordOptions } from './host.ts';

type Options = HostOptions & SecretPasswordOptions & { tenant: string; create?: true };

export function addGrantAdminCommand(users: SvcCommand, context: CliContext): void {
  withSecretPasswordOptions(withHostOptions(users.command('grant-admin')), 'a new password of the user')
    .description('On the host, with access to the database: make a user an active administrator')
    .argument('<user>', 'email address or id')
    .option('--tenant <name>', 'tenant of the user', 'default')
    .option('--create', 'make the user, if there is none')
    .note(
      'Works on the database itself, also while control planes run: the way in when nobody can log in, and the way back in\nwhen no administrator can. A user who is made without a password option gets one that is printed once.',
    )
    .example(
      'the first user of a new installation',
      'SVC_DATABASE_URL=… svc users grant-admin you@example.com --create',
    )
    .example(
      'back in, with a new password',
      'svc users grant-admin ana@example.com --tenant acme --password-stdin --config server.yaml',
    )
    .action((user: string, options: Options) => grantAdmin(context, user, options));
}

async function grantAdmin(context: CliContext, user: string, options: Options): Promise<void> {
  if (options.create && !user.includes('@')) throw usageError(`${user} is no e-mail address: a new user needs one`);
  const given = await readSecretPassword(context, options);
  const { grantAdministrator } = await import('@svc/server/auth/grant-admin.ts');
  const { ensureTenant } = await import('@svc/server/auth/tenants.ts');
  const { DEFAULT_TENANT } = await import('@svc/server/db/identity/tenants.ts');
  const generated = given === undefined && options.create ? generatePassword() : undefined;
  const outcome = await onHostDatabase(context, options, async (db) => {
    if (options.tenant === DEFAULT_TENANT) await ensureTenant(db.shared, DEFAULT_TENANT);
    const input = { tenant: options.tenant, user, actor: hostActor('users grant-admin') };
    // A generated password is only for a new user. An existing user keeps the old password.
    const granted = await grantAdministrator(db.shared, {
      ...input,
      password: given,
      create: given !== undefined && options.create === true,
    });
    if (granted.kind !== 'no_such_user' || generated === undefined) return granted;
    return grantAdministrator(db.shared, { ...input, password: generated, create: true });
  });
  switch (outcome.kind) {
    case 'no_such_tenant':
      throw new CliError(`there is no tenant ${options.tenant}`, {
        exitCode: EXIT.notFound,
        hint: 'svc tenants list shows all',
      });
    case 'no_such_user':
      throw new CliError(`there is no user ${user} in the tenant ${options.tenant}`, {
        exitCode: EXIT.notFound,
        hint: 'add --create to make one',
      });
    case 'granted':
    case 'created': {
      const password = outcome.kind === 'created' ? generated : undefined;
      const { email, id, roles } = outcome.user;
      if (options.json) {
        const created = outcome.kind === 'created';
        printJson(context, { id, email, roles, tenant: options.tenant, created, password: password ?? null });
        return;
      }
      context.stdout.write(`${email} is an administrator of the tenant ${options.tenant}.\n`);
      if (password !== undefined) context.stdout.write(`Password, shown this once: ${password}\n`);
      if (outcome.tenant.disabled_at !== null)
        context.stdout.write(`The tenant is disabled: svc tenants enable ${options.tenant} lets its users in.\n`);
    }
  }
}
