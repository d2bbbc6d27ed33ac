/**
 * Writes one entry of the audit log per command of the command line, as Airflow does: `cli_<function>`. The command
 * names itself in a header of its first request. The entry is written with the answer. An unauthenticated or
 * unauthorised caller leaves no entry; a command that fails in another way leaves one, as in Airflow.
 */
import { COMMAND_HEADER, decodeCommand } from '@svc/spec/announced-command.ts';
import { maskCredentials } from '@svc/spec/masking/credential-patterns.ts';
import type { FastifyInstance } from 'fastify';
import { recordAudit } from '../../db/identity/audit-log.ts';
import type { Database } from '../../db/database.ts';
import { actorOf, databaseOf } from '../../http/access.ts';

const REFUSED: ReadonlySet<number> = new Set([401, 403, 429]);

export function recordCommands(app: FastifyInstance, db: Database): void {
  app.addHook('onSend', async (request, reply) => {
    const header = request.headers[COMMAND_HEADER];
    if (header === undefined || !request.maybePrincipal || REFUSED.has(reply.statusCode)) return;
    const command = decodeCommand(header);
    if (!command) return;
    const { event, hostName, systemUser, fullCommand, dagId } = command;
    const entry = {
      event,
      objectKind: 'command',
      objectId: event.slice('cli_'.length),
      ...(dagId !== undefined && { dagId }),
      detail: { host_name: hostName, full_command: maskCredentials(fullCommand), system_user: systemUser },
    };
    // The change itself has its own entry in the same transaction, so the answer does not wait for this one during an
    // outage.
    await recordAudit(databaseOf(request, db), actorOf(request), entry).catch((error: unknown) =>
      request.log.error({ code: 'SVC6010', err: error, event }, 'a command could not be written to the audit log'),
    );
  });
}
