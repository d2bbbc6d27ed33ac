/** Users of the caller's tenant. No answer contains a password. */
import { Type } from 'typebox';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, hashPassword } from '../../auth/passwords.ts';
import { ROLE_NAMES } from '../../auth/permissions.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import type { TenantDb } from '../../db/database.ts';
import { changeUserAccess, removeUser } from '../../db/identity/administrators.ts';
import type { AccessChange } from '../../db/identity/administrators.ts';
import { endSessionsOfUser } from '../../db/identity/sessions.ts';
import {
  findUserById,
  insertUser,
  listUsers,
  normaliseEmail,
  unknownRoles,
  updateUser,
} from '../../db/identity/users.ts';
import type { UserRow } from '../../db/identity/users.ts';
import { TENANT_DISABLED, actorOf, databaseOf, personOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { Collection, DateTime, PagingQuery, ShownAs } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { passwordsOff } from './tokens.ts';

const User = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    email: Type.String(),
    roles: Type.Array(Type.String()),
    is_active: Type.Boolean(),
    created_at: DateTime,
  },
  { title: 'User' },
);

// Refuses invisible characters, because such an address could look like another one. The escapes are ones that patterns
// of every language know.
const ADDRESS_PART = String.raw`[^\s@\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+`;
export const Email = Type.String({
  title: 'e-mail address',
  maxLength: 320,
  pattern: String.raw`^\s*${ADDRESS_PART}@${ADDRESS_PART}\s*$`,
  description: 'Stored in lower case',
});
export const Password = Type.String({
  minLength: MIN_PASSWORD_LENGTH,
  maxLength: MAX_PASSWORD_LENGTH,
  writeOnly: true,
});
const Roles = Type.Array(ShownAs(Type.String({ maxLength: 200 }), { type: 'string', enum: ROLE_NAMES }), {
  maxItems: 100,
  description: 'Names of existing roles',
});

const CreateUserRequest = Type.Object(
  {
    email: Email,
    password: Type.Optional({
      ...Password,
      description: 'May be left out where people sign in at an identity provider, by a verified e-mail address',
    }),
    roles: Type.Optional(Roles),
  },
  { title: 'CreateUserRequest', additionalProperties: false },
);

const UpdateUserRequest = Type.Object(
  { is_active: Type.Optional(Type.Boolean()), password: Type.Optional(Password), roles: Type.Optional(Roles) },
  { title: 'UpdateUserRequest', additionalProperties: false },
);

const ChangePasswordRequest = Type.Object(
  { current_password: Type.String({ maxLength: MAX_PASSWORD_LENGTH, writeOnly: true }), new_password: Password },
  { title: 'ChangePasswordRequest', additionalProperties: false },
);

const UserParams = Type.Object({ user_id: Type.String({ format: 'uuid' }) });

export function registerUsers(app: App, { config, db, sessions }: Services): void {
  app.get(
    '/api/v2/users',
    {
      config: { access: 'read:user' },
      schema: {
        operationId: 'get_users',
        tags: ['Users'],
        summary: 'List users, newest first',
        querystring: Type.Object(PagingQuery),
        response: { 200: Collection('UserCollection', 'users', User) },
      },
    },
    async (request) => {
      const { users, total } = await listUsers(databaseOf(request, db), request.query);
      return { users, total_entries: total };
    },
  );

  app.post(
    '/api/v2/users',
    {
      config: { access: 'write:user', refuses: ['already_exists'] },
      schema: {
        operationId: 'post_user',
        tags: ['Users'],
        summary: 'Create a user',
        body: CreateUserRequest,
        response: { 201: User },
      },
    },
    async (request, reply) => {
      const email = normaliseEmail(request.body.email);
      const { password, roles = [] } = request.body;
      if (password === undefined && config.auth.provider !== 'oidc')
        throw new ApiError(
          'invalid_request',
          '"password" is required: nobody could log in without one, as single sign-on is off (auth.provider is jwt)',
        );
      const passwordHash = password === undefined ? null : await hashPassword(password);
      const user = await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          await refuseUnknownRoles(trx, roles);
          const created = await insertUser(trx, { email, passwordHash, roles });
          if (!created) throw new ApiError('already_exists', `there is already a user ${email}`);
          await recordAudit(trx, actorOf(request), {
            event: 'post_user',
            objectKind: 'user',
            objectId: created.id,
            detail: { email, roles },
          });
          return created;
        });
      return reply.code(201).send(user);
    },
  );

  app.patch(
    '/api/v2/users/:user_id',
    {
      config: { access: 'write:user', refuses: ['conflict'] },
      schema: {
        operationId: 'patch_user',
        tags: ['Users'],
        summary: 'Activate, deactivate, change roles or set a password',
        description:
          'Deactivation and a new password end all sessions of the user at once. The last active administrator of a tenant keeps role and account: 409.',
        params: UserParams,
        body: UpdateUserRequest,
        response: { 200: User },
      },
    },
    async (request) => {
      const userId = request.params.user_id.toLowerCase(); // the form of Postgres, which principals also have
      const { is_active: isActive, password, roles } = request.body;
      if (isActive === false && userId === principalOf(request).userId) {
        throw new ApiError('conflict', 'you cannot deactivate yourself: another administrator can');
      }
      const passwordHash = password === undefined ? undefined : await hashPassword(password);
      return databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          if (roles) await refuseUnknownRoles(trx, roles);
          const outcome = await changeUserAccess(trx, userId, {
            ...(roles !== undefined && { roles }),
            ...(isActive !== undefined && { isActive }),
          });
          refuseUnlessDone(outcome, userId);
          if (passwordHash !== undefined) {
            await updateUser(trx, userId, { passwordHash });
            await endSessionsOfUser(trx, userId);
          }
          const changed = Object.keys(request.body).sort();
          await recordAudit(trx, actorOf(request), {
            event: 'patch_user',
            objectKind: 'user',
            objectId: userId,
            detail: { changed },
          });
          const user = await findUserById(trx, userId);
          if (!user) throw noSuchUser(userId);
          return user;
        });
    },
  );

  app.delete(
    '/api/v2/users/:user_id',
    {
      config: { access: 'write:user', refuses: ['conflict'] },
      schema: {
        operationId: 'delete_user',
        tags: ['Users'],
        summary: 'Delete a user',
        description:
          'Ends all sessions of the user at once; what the user did stays in the audit log. The last active administrator of a tenant cannot be deleted, nor can you delete yourself: 409.',
        params: UserParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const userId = request.params.user_id.toLowerCase();
      if (userId === principalOf(request).userId)
        throw new ApiError('conflict', 'you cannot delete yourself: another administrator can');
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const { email } = refuseUnlessDone(await removeUser(trx, userId), userId);
          await recordAudit(trx, actorOf(request), {
            event: 'delete_user',
            objectKind: 'user',
            objectId: userId,
            detail: { email },
          });
        });
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/api/v2/auth/password',
    {
      config: {
        access: 'user',
        refuses: ['wrong_credentials', 'passwords_off', 'tenant_disabled', 'people_only', 'login_rate_limited'],
      },
      schema: {
        operationId: 'change_password',
        tags: ['Authentication'],
        summary: 'Change your own password',
        description: 'Ends every session of yours, this one included: log in again with the new password.',
        body: ChangePasswordRequest,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { userId, email, tenantName } = personOf(request);
      // Uses the login, so that guessing the current password here uses the same budget as guessing it there.
      const proof = await sessions.login({
        username: email,
        password: request.body.current_password,
        tenant: tenantName,
        clientIp: request.clientIp,
        requestId: request.id,
      });
      if (proof.kind === 'rate_limited') {
        throw new ApiError('login_rate_limited', 'too many failed attempts: wait before the next try', {
          'retry-after': String(proof.retryAfterSeconds),
        });
      }
      if (proof.kind === 'tenant_disabled') throw new ApiError('tenant_disabled', TENANT_DISABLED);
      if (proof.kind === 'passwords_off') throw passwordsOff();
      if (proof.kind === 'wrong_credentials') throw new ApiError('wrong_credentials', 'the current password is wrong');
      const passwordHash = await hashPassword(request.body.new_password);
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          await updateUser(trx, userId, { passwordHash });
          await endSessionsOfUser(trx, userId);
          await recordAudit(trx, actorOf(request), { event: 'change_password', objectKind: 'user', objectId: userId });
        });
      return reply.code(204).send(null);
    },
  );
}

const noSuchUser = (userId: string): ApiError => new ApiError('not_found', `there is no user with id ${userId}`);

/** Returns the user as it was before the change. */
function refuseUnlessDone(outcome: AccessChange, userId: string): UserRow {
  switch (outcome.kind) {
    case 'done':
      return outcome.before;
    case 'no_such_user':
      throw noSuchUser(userId);
    case 'last_administrator':
      throw new ApiError(
        'conflict',
        `${outcome.email} is the last active administrator of this tenant: give another active user the role admin first`,
      );
  }
}

export async function refuseUnknownRoles(db: TenantDb, roles: readonly string[]): Promise<void> {
  const [unknown] = await unknownRoles(db, roles);
  if (unknown !== undefined)
    throw new ApiError(
      'unknown_role',
      `there is no role "${unknown.slice(0, 100)}": use viewer, operator, editor or admin`,
    );
}
