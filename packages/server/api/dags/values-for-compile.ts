/**
 * What a DAG file reads while it is compiled on another machine. A person who may register DAGs can read the same by a
 * task; here, too, secrets need the right to write them, and every read is audited.
 */
import { Type } from 'typebox';
import type { Permission } from '../../auth/permissions.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const Body = Type.Object(
  {
    kind: Type.Union([Type.Literal('variable'), Type.Literal('connection')]),
    name: Type.String({ minLength: 1, maxLength: 250 }),
    is_declared: Type.Boolean({ description: 'The source of the file writes the name out' }),
  },
  { title: 'ValueForCompileBody', additionalProperties: false },
);

const ValueForCompile = Type.Object(
  {
    text: Nullable(Type.String({ description: 'A connection is JSON. Null if there is none of that name' })),
    fingerprint: Type.String({ description: 'Belongs into `values_read` of the version' }),
    masks: Type.Array(Type.String(), { description: 'What must not appear in a log or a version' }),
    note: Nullable(Type.String({ description: 'A warning for the author' })),
  },
  { title: 'ValueForCompile' },
);

export function registerValuesForCompile(app: App, { db, compileValues }: Services): void {
  app.post(
    '/api/v2/valuesForCompile',
    {
      config: { access: 'write:dag' },
      schema: {
        operationId: 'post_value_for_compile',
        tags: ['DAG versions'],
        summary: 'Read a variable or a connection while a DAG file is compiled',
        description:
          'Also needs `read:variable` or `read:connection`, and for a secret `write:variable` or `write:connection`. Audited.',
        body: Body,
        response: { 200: ValueForCompile },
      },
    },
    async (request, reply) => {
      const { kind, name, is_declared: isDeclared } = request.body;
      const { tenantId, permissions } = principalOf(request);
      const need = (permission: Permission): void => {
        if (!permissions.has(permission)) throw new ApiError('permission_denied', `missing permission ${permission}`);
      };
      need(`read:${kind}`);
      const found = await compileValues(tenantId).answer({ kind, name, isDeclared });
      if ('refusal' in found) throw new ApiError('permission_denied', `${found.refusal}. ${found.instead}`);
      const { text, fingerprint = '', masks, note = null } = found;
      if (masks.length > 0) need(`write:${kind}`);
      await recordAudit(databaseOf(request, db), actorOf(request), {
        event: 'post_value_for_compile',
        objectKind: kind,
        objectId: name,
        detail: { exists: text !== null },
      });
      // Neither browsers nor proxies keep what may be a secret.
      return reply.header('cache-control', 'no-store').send({ text, fingerprint, masks: [...masks], note });
    },
  );
}
