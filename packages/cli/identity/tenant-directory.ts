/**
 * Tenants from the database on the host, or through the API for a platform administrator. Both have one interface, so
 * that one command serves both.
 */
import type { Tenant } from '@svc/client/wire-types.ts';
import type { SharedDb } from '@svc/server/db/database.ts';
import type { ListedTenant } from '@svc/server/db/identity/tenants.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { hostActor } from './host.ts';

export type NewTenant = { name: string; email: string; password: string };

export type TenantDirectory = {
  list(): Promise<Tenant[]>;
  show(name: string): Promise<Tenant>;
  create(input: NewTenant): Promise<Tenant>;
  setEnabled(name: string, isEnabled: boolean): Promise<Tenant>;
};

export function tenantsOverApi(client: Client): TenantDirectory {
  const path = '/api/v2/platform/tenants';
  const one = '/api/v2/platform/tenants/{tenant_name}';
  return {
    list: () => client.list(path, 'tenants'),
    show: (name) => client.get(one, { path: { tenant_name: name } }),
    create: ({ name, email, password }) =>
      client.post(path, { body: { name, admin_email: email, admin_password: password } }),
    setEnabled: (name, isEnabled) => client.patch(one, { path: { tenant_name: name }, body: { is_active: isEnabled } }),
  };
}

const EVERY_ONE = { limit: Number.MAX_SAFE_INTEGER, offset: 0 };

export async function tenantsInDatabase(db: SharedDb): Promise<TenantDirectory> {
  const auth = await import('@svc/server/auth/tenants.ts');
  const rows = await import('@svc/server/db/identity/tenants.ts');
  await auth.ensureTenant(db, rows.DEFAULT_TENANT); // this may be the first command of an installation

  async function show(name: string): Promise<Tenant> {
    const tenant = await rows.findListedTenant(db, name);
    if (!tenant) throw noSuchTenant(name);
    return shown(tenant);
  }
  return {
    list: async () => (await rows.listTenants(db, EVERY_ONE)).tenants.map(shown),
    show,
    async create({ name, email, password }) {
      if (!auth.isTenantName(name)) throw usageError(`${JSON.stringify(name)} is no name: ${auth.TENANT_NAME_RULE}`);
      if (!/^\S+@\S+$/.test(email.trim())) throw usageError(`${email} is no e-mail address`);
      const created = await auth.createTenant(db, {
        name,
        admin: { email, password },
        actor: hostActor('tenants create'),
      });
      if (!created) throw new CliError(`there is already a tenant ${name}`);
      return show(name);
    },
    async setEnabled(name, isEnabled) {
      const actor = hostActor(`tenants ${isEnabled ? 'enable' : 'disable'}`);
      const { kind } = await auth.setTenantEnabled(db, { name, isEnabled, actor });
      if (kind === 'no_such_tenant') throw noSuchTenant(name);
      if (kind === 'is_platform')
        throw new CliError(`the tenant ${name} cannot be disabled: the administrators of the platform are in it`);
      return show(name);
    },
  };
}

const noSuchTenant = (name: string): CliError =>
  new CliError(`there is no tenant ${name}`, { exitCode: EXIT.notFound, hint: 'svc tenants list shows all' });

const shown = (tenant: ListedTenant): Tenant => ({ ...tenant, is_active: tenant.disabled_at === null });
