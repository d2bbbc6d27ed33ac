/**
 * Service accounts for programs that call the API. Each has a name, one role, and a token that is shown once and
 * expires.
 */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { ROLE_NAMES } from '../../auth/permissions.ts';
import { generateServiceToken, storedToken } from '../../auth/service-tokens.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import type { TenantDb } from '../../db/database.ts';
import {
  deleteServiceAccount,
  insertServiceAccount,
  listServiceAccounts,
  lockServiceAccount,
  replaceServiceToken,
} from '../../db/identity/service-accounts.ts';
import type { ServiceAccountRow } from '../../db/identity/service-accounts.ts';
import { permissionsOfRoles } from '../../db/identity/tenants.ts';
import { actorOf, databaseOf, principalOf, requireAllOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { Collection, DateTime, PagingQuery, ShownAs } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { refuseUnknownRoles } from './users.ts';

const TAGS = ['Service accounts'];
const DAY_SECONDS = 86_400;
const DEFAULT_LIFETIME_SECONDS = 90 * DAY_SECONDS;
const LONGEST_LIFETIME_SECONDS = 366 * DAY_SECONDS;

const Name = Type.String({
  maxLength: 63,
  pattern: '^[a-z0-9][a-z0-9._-]{0,62}$',
  description: 'Small letters, digits, `.`, `-` and `_`, beginning with a letter or a digit',
});
const Params = Type.Object({ service_account: Type.String() });

const FIELDS = {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  role: Type.String(),
  token_start: Type.String({ description: 'How the token begins, to recognise it by' }),
  created_by: Type.String(),
  created_at: DateTime,
  expires_at: DateTime,
  last_used_at: Type.Union([DateTime, Type.Null()], { description: 'To the minute' }),
};
const ServiceAccount = Type.Object(FIELDS, { title: 'ServiceAccount' });
const IssuedServiceAccount = Type.Object(
  { ...FIELDS, token: Type.String({ description: 'Shown this once; only its hash is stored' }) },
  { title: 'IssuedServiceAccount' },
);

const ExpiresIn = Type.Integer({
  minimum: 60,
  maximum: LONGEST_LIFETIME_SECONDS,
  default: DEFAULT_LIFETIME_SECONDS,
  description: 'Seconds until the token expires: 90 days unless given, a year at most',
});
const CreateServiceAccount = Type.Object(
  {
    name: Name,
    role: ShownAs(Type.String({ maxLength: 200 }), { type: 'string', enum: ROLE_NAMES }),
    expires_in: Type.Optional(ExpiresIn),
  },
  { title: 'CreateServiceAccountRequest', additionalProperties: false },
);
const RotateServiceAccount = Type.Object(
  { expires_in: Type.Optional(ExpiresIn) },
  { title: 'RotateServiceAccountRequest', additionalProperties: false },
);

export function registerServiceAccounts(app: App, { db }: Services): void {
  app.get(
    '/api/v2/serviceAccounts',
    {
      config: { access: 'read:user' },
      schema: {
        operationId: 'get_service_accounts',
        tags: TAGS,
        summary: 'List service accounts, by name',
        querystring: Type.Object(PagingQuery),
        response: { 200: Collection('ServiceAccountCollection', 'service_accounts', ServiceAccount) },
      },
    },
    async (request) => {
      const { accounts, total } = await listServiceAccounts(databaseOf(request, db), request.query);
      return { service_accounts: accounts.map(shown), total_entries: total };
    },
  );

  app.post(
    '/api/v2/serviceAccounts',
    {
      config: { access: 'write:user', refuses: ['already_exists'] },
      schema: {
        operationId: 'post_service_account',
        tags: TAGS,
        summary: 'Create a service account; the answer has its token, once',
        description: 'Its role may hold nothing that the caller does not hold: 403.',
        body: CreateServiceAccount,
        response: { 201: IssuedServiceAccount },
      },
    },
    async (request, reply) => {
      const { name, role, expires_in: expiresIn = DEFAULT_LIFETIME_SECONDS } = request.body;
      const token = generateServiceToken();
      const account = await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          await refuseUnknownRoles(trx, [role]);
          requireAllOf(request, await permissionsOfRoles(trx, [role]));
          const created = await insertServiceAccount(trx, {
            name,
            role,
            createdBy: principalOf(request).email,
            token: storedToken(token, secondsFromNow(expiresIn)),
          });
          if (!created) throw new ApiError('already_exists', `there is already a service account ${name}`);
          await recordAudit(trx, actorOf(request), entry('post_service_account', created));
          return created;
        });
      return reply.code(201).send({ ...shown(account), token });
    },
  );

  app.post(
    '/api/v2/serviceAccounts/:service_account/rotate',
    {
      config: { access: 'write:user' },
      schema: {
        operationId: 'rotate_service_account',
        tags: TAGS,
        summary: 'Replace the token of a service account; the old one is refused from then on',
        params: Params,
        body: RotateServiceAccount,
        response: { 200: IssuedServiceAccount },
      },
    },
    async (request) => {
      const { expires_in: expiresIn = DEFAULT_LIFETIME_SECONDS } = request.body;
      const token = generateServiceToken();
      const account = await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const { id, role_name: role } = await existing(trx, request.params.service_account);
          requireAllOf(request, await permissionsOfRoles(trx, [role])); // the token grants that role
          const rotated = await replaceServiceToken(trx, id, storedToken(token, secondsFromNow(expiresIn)));
          await recordAudit(trx, actorOf(request), entry('rotate_service_account', rotated));
          return rotated;
        });
      return { ...shown(account), token };
    },
  );

  app.delete(
    '/api/v2/serviceAccounts/:service_account',
    {
      config: { access: 'write:user' },
      schema: {
        operationId: 'delete_service_account',
        tags: TAGS,
        summary: 'Revoke a service account; its token is refused from then on',
        params: Params,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const account = await existing(trx, request.params.service_account);
          await deleteServiceAccount(trx, account.id);
          await recordAudit(trx, actorOf(request), entry('delete_service_account', account));
        });
      return reply.code(204).send(null);
    },
  );
}

async function existing(trx: TenantDb, name: string): Promise<ServiceAccountRow> {
  const account = await lockServiceAccount(trx, name);
  if (!account) throw new ApiError('not_found', `there is no service account ${name.slice(0, 100)}`);
  return account;
}

const entry = (event: string, account: ServiceAccountRow) => ({
  event,
  objectKind: 'service_account',
  objectId: account.name,
  detail: { id: account.id, role: account.role_name, expires_at: account.expires_at },
});

const shown = ({ role_name: role, ...account }: ServiceAccountRow): Static<typeof ServiceAccount> => ({
  ...account,
  role,
});

const secondsFromNow = (seconds: number): Date => new Date(Date.now() + seconds * 1_000);
