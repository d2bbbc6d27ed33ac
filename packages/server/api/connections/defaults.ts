/** Creates the default connections of hooks, such as `postgres_default`. They contain only their type. */
import { Type } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { saveConnections } from '../../db/secrets/connections.ts';
import { actorOf, databaseOf } from '../../http/access.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { HOOK_FORMS } from './hook-forms.ts';

const DEFAULTS: ReadonlyMap<string, string> = new Map(
  HOOK_FORMS.flatMap(({ defaultConnection, connectionType }) =>
    defaultConnection === null ? [] : [[defaultConnection, connectionType] as const],
  ),
);

export function registerDefaultConnections(app: App, { db }: Services): void {
  app.post(
    '/api/v2/connections/defaults',
    {
      config: { access: 'write:connection' },
      schema: {
        operationId: 'create_default_connections',
        tags: ['Connections'],
        summary: 'Create the missing default connections',
        description: 'Empty but for their type, to be filled in. Those that exist stay as they are.',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const created = await saveConnections(trx, [...DEFAULTS.keys()].sort(), (id, stored) =>
            stored
              ? undefined
              : {
                  connection_id: id,
                  conn_type: DEFAULTS.get(id) ?? '',
                  description: null,
                  host: null,
                  login: null,
                  schema: null,
                  port: null,
                  password_sealed: null,
                  extra_sealed: null,
                },
          );
          await recordAudit(trx, actorOf(request), {
            event: 'create_default_connections',
            objectKind: 'connection',
            objectId: 'defaults',
            detail: { created: [...created.keys()].sort() },
          });
        });
      return reply.code(204).send(null);
    },
  );
}
