import type { Tenant } from '@svc/client/wire-types.ts';
import { connect } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printFields } from '../output/fields.ts';
import { printTable } from '../output/terminal.ts';
import type { SvcCommand } from '../svc-command.ts';
import {
  generatePassword,
  onHostDatabase,
  readSecretPassword,
  withHostOptions,
  withSecretPasswordOptions,
} from './host.ts';
import type { HostOptions, SecretPasswordOptions } from './host.ts';
import { tenantsInDatabase, tenantsOverApi } from './tenant-directory.ts';
import type { TenantDirectory } from './tenant-directory.ts';

type Options = HostOptions & { server?: string };

export function addTenantsCommands(program: SvcCommand, context: CliContext): void {
  const tenants = program.command('tenants').description('Make and manage tenants');
  const add = (name: string): SvcCommand =>
    withHostOptions(tenants.command(name))
      .option(
        '--server <url>',
        'through the API of this control plane, as a platform administrator (SVC_TOKEN or the stored login)',
      )
      .note('Without --server this works on the database itself, with the settings of the control plane.');
  const one = (name: string): SvcCommand => add(name).argument('<name>', 'name of the tenant');

  withSecretPasswordOptions(one('create'), 'the password of the first administrator')
    .description('Create a tenant with its first administrator')
    .requiredOption('--admin <email>', 'address of the first administrator')
    .note('Without a password option one is made up and printed once.')
    .example('on the host', 'SVC_DATABASE_URL=… svc tenants create acme --admin ana@acme.example')
    .example(
      'from elsewhere',
      'svc tenants create acme --admin ana@acme.example --password-file password.txt --server https://flows.example.com',
    )
    .action((name: string, options: Options & SecretPasswordOptions & { admin: string }) =>
      create(context, name, options),
    );

  add('list')
    .description('List tenants')
    .action(async (options: Options) => {
      const found = await onDirectory(context, options, (directory) => directory.list());
      if (options.json) printJson(context, found);
      else printTenants(context, found);
    });

  one('show')
    .description('Show a tenant')
    .action(async (name: string, options: Options) => {
      print(context, options, await onDirectory(context, options, (directory) => directory.show(name)));
    });

  for (const [verb, isEnabled, description] of [
    [
      'disable',
      false,
      'Disable a tenant: no logins, tokens are refused at once, nothing of it starts; what runs ends by itself',
    ],
    ['enable', true, 'Enable a tenant again: what waited goes on'],
  ] as const)
    one(verb)
      .description(description)
      .action(async (name: string, options: Options) => {
        print(
          context,
          options,
          await onDirectory(context, options, (directory) => directory.setEnabled(name, isEnabled)),
        );
      });
}

async function onDirectory<T>(
  context: CliContext,
  options: Options,
  use: (directory: TenantDirectory) => Promise<T>,
): Promise<T> {
  if (options.server !== undefined) return use(tenantsOverApi(await connect(context, { server: options.server })));
  return onHostDatabase(context, options, async (db) => use(await tenantsInDatabase(db.shared)));
}

async function create(
  context: CliContext,
  name: string,
  options: Options & SecretPasswordOptions & { admin: string },
): Promise<void> {
  const given = await readSecretPassword(context, options);
  const password = given ?? generatePassword();
  const input = { name, email: options.admin, password };
  const tenant = await onDirectory(context, options, (directory) => directory.create(input));
  const admin = options.admin.trim().toLowerCase();
  if (options.json) {
    printJson(context, { ...tenant, admin_email: admin, admin_password: given === undefined ? password : null });
    return;
  }
  context.stdout.write(`Created the tenant ${name}. Its administrator is ${admin}.\n`);
  if (given === undefined) context.stdout.write(`Password, shown this once: ${password}\n`);
  context.stdout.write(`Log in with: svc auth login --tenant ${name} --username ${admin}\n`);
}

function print(context: CliContext, options: Options, tenant: Tenant): void {
  if (options.json) {
    printJson(context, tenant);
    return;
  }
  printFields(context.stdout, [
    ['Name', tenant.name],
    ['State', stateOf(tenant)],
    ['Disabled', tenant.disabled_at && moment(tenant.disabled_at)],
    ['Created', moment(tenant.created_at)],
    ['Users', tenant.users],
    ['DAGs', tenant.dags],
    ['ID', tenant.id],
  ]);
}

function printTenants(context: CliContext, tenants: readonly Tenant[]): void {
  printTable(context.stdout, {
    columns: [
      { title: 'NAME', value: (tenant) => tenant.name },
      { title: 'STATE', value: stateOf },
      { title: 'USERS', value: (tenant) => String(tenant.users), align: 'right' },
      { title: 'DAGS', value: (tenant) => String(tenant.dags), align: 'right' },
      { title: 'CREATED', value: (tenant) => moment(tenant.created_at) },
      { title: 'ID', value: (tenant) => tenant.id },
    ],
    rows: tenants,
  });
}

const stateOf = (tenant: Tenant): string => (tenant.is_active ? 'active' : 'disabled');
const moment = (text: string): string => text.slice(0, 19).replace('T', ' ');
