/** The accounts at the identity provider that belong to a user. An administrator can remove the binding. */
import { Type } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { releaseIdentities } from '../../db/identity/oidc-identities.ts';
import { endSessionsOfUser } from '../../db/identity/sessions.ts';
import { findUserById } from '../../db/identity/users.ts';
import { actorOf, databaseOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

export function registerIdentities(app: App, { db }: Services): void {
  app.delete(
    '/api/v2/users/:user_id/identities',
    {
      config: { access: 'write:user' },
      schema: {
        operationId: 'delete_user_identities',
        tags: ['Users'],
        summary: 'Unlink a user from the account at the identity provider',
        description:
          'Ends all sessions of the user. Whoever next signs in there with its verified e-mail address becomes this user: for an address that was given to another person, or an account that was made anew.',
        params: Type.Object({ user_id: Type.String({ format: 'uuid' }) }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const userId = request.params.user_id.toLowerCase();
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          if (!(await findUserById(trx, userId))) throw new ApiError('not_found', `there is no user with id ${userId}`);
          const released = await releaseIdentities(trx, userId);
          await endSessionsOfUser(trx, userId);
          const detail = { released };
          await recordAudit(trx, actorOf(request), {
            event: 'delete_user_identities',
            objectKind: 'user',
            objectId: userId,
            detail,
          });
        });
      return reply.code(204).send(null);
    },
  );
}
