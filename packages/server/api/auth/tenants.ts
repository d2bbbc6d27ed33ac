/** The tenants of the platform, for the administrators of the tenant `default`. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { createTenant, setTenantEnabled } from '../../auth/tenants.ts';
import { TENANT_NAME_PATTERN, findListedTenant, listTenants } from '../../db/identity/tenants.ts';
import type { ListedTenant } from '../../db/identity/tenants.ts';
import { actorOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { Collection, DateTime, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { Email, Password } from './users.ts';

const TAGS = ['Tenants'];

const Tenant = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    is_active: Type.Boolean({ description: 'False while the tenant is disabled' }),
    created_at: DateTime,
    disabled_at: Type.Union([DateTime, Type.Null()]),
    users: Type.Integer(),
    dags: Type.Integer(),
  },
  { title: 'Tenant' },
);
const CreateTenant = Type.Object(
  {
    name: Type.String({
      maxLength: 63,
      pattern: TENANT_NAME_PATTERN,
      description: 'Small letters, digits, `-` and `_`, beginning with a letter or a digit',
    }),
    admin_email: Email,
    admin_password: Password,
  },
  { title: 'CreateTenantRequest', additionalProperties: false },
);
const UpdateTenant = Type.Object(
  { is_active: Type.Boolean() },
  { title: 'UpdateTenantRequest', additionalProperties: false },
);
const Params = Type.Object({ tenant_name: Type.String() });

export function registerTenants(app: App, { db, scheduler }: Services): void {
  app.get(
    '/api/v2/platform/tenants',
    {
      config: { access: 'read:tenant' },
      schema: {
        operationId: 'get_tenants',
        tags: TAGS,
        summary: 'List tenants, by name',
        querystring: Type.Object(PagingQuery),
        response: { 200: Collection('TenantCollection', 'tenants', Tenant) },
      },
    },
    async (request) => {
      const { tenants, total } = await listTenants(db.shared, request.query);
      return { tenants: tenants.map(shown), total_entries: total };
    },
  );

  app.post(
    '/api/v2/platform/tenants',
    {
      config: { access: 'write:tenant', refuses: ['already_exists'] },
      schema: {
        operationId: 'post_tenant',
        tags: TAGS,
        summary: 'Create a tenant with its first administrator',
        body: CreateTenant,
        response: { 201: Tenant },
      },
    },
    async (request, reply) => {
      const { name, admin_email: email, admin_password: password } = request.body;
      const created = await createTenant(db.shared, { name, admin: { email, password }, actor: actorOf(request) });
      if (!created) throw new ApiError('already_exists', `there is already a tenant ${name}`);
      return reply.code(201).send(await existing(name));
    },
  );

  app.get(
    '/api/v2/platform/tenants/:tenant_name',
    {
      config: { access: 'read:tenant' },
      schema: {
        operationId: 'get_tenant',
        tags: TAGS,
        summary: 'Get one tenant',
        params: Params,
        response: { 200: Tenant },
      },
    },
    (request) => existing(request.params.tenant_name),
  );

  app.patch(
    '/api/v2/platform/tenants/:tenant_name',
    {
      config: { access: 'write:tenant', refuses: ['conflict'] },
      schema: {
        operationId: 'patch_tenant',
        tags: TAGS,
        summary: 'Disable or enable a tenant',
        description:
          'While it is disabled nobody logs in, its tokens are refused, and nothing of it starts; attempts that run go on to their end. The tenant `default` cannot be disabled: 409.',
        params: Params,
        body: UpdateTenant,
        response: { 200: Tenant },
      },
    },
    async (request) => {
      const { tenant_name: name } = request.params;
      const isEnabled = request.body.is_active;
      const { kind } = await setTenantEnabled(db.shared, { name, isEnabled, actor: actorOf(request) });
      if (kind === 'no_such_tenant') throw noSuchTenant(name);
      if (kind === 'is_platform')
        throw new ApiError(
          'conflict',
          `the tenant ${name} cannot be disabled: the administrators of the platform are in it`,
        );
      if (isEnabled) scheduler.tenantEnabled();
      return existing(name);
    },
  );

  async function existing(name: string): Promise<Static<typeof Tenant>> {
    const tenant = await findListedTenant(db.shared, name);
    if (!tenant) throw noSuchTenant(name);
    return shown(tenant);
  }
}

const noSuchTenant = (name: string): ApiError => new ApiError('not_found', `there is no tenant ${name.slice(0, 100)}`);

const shown = (tenant: ListedTenant): Static<typeof Tenant> => ({ ...tenant, is_active: tenant.disabled_at === null });
