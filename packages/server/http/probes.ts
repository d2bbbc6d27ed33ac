/** Liveness and readiness, for machines. Served by every role. */
import { Type } from 'typebox';
import { isOutage } from '../db/outage.ts';
import { ApiError } from './errors.ts';
import type { Readiness } from './readiness.ts';
import type { App } from './typed-app.ts';

const TEXT_RESPONSE = { 200: { description: 'Yes', content: { 'text/plain': { schema: Type.String() } } } };

/** Their paths: always served. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

export type ProbedDatabase = { ping(): Promise<void> };

export function registerProbes(app: App, { db, readiness }: { db: ProbedDatabase; readiness: Readiness }): void {
  app.get(
    '/healthz',
    {
      config: { access: 'public' },
      schema: { operationId: 'healthz', tags: ['Probes'], summary: 'Is the process alive?', response: TEXT_RESPONSE },
    },
    async (_request, reply) => reply.type('text/plain; charset=utf-8').send('ok\n'),
  );

  app.get(
    '/readyz',
    {
      config: { access: 'public' },
      schema: { operationId: 'readyz', tags: ['Probes'], summary: 'Can it serve requests?', response: TEXT_RESPONSE },
    },
    async (_request, reply) => {
      const reason = readiness.reason();
      if (reason !== null) throw new ApiError('not_ready', reason, { 'retry-after': '1' });
      try {
        await db.ping();
      } catch (error) {
        if (isOutage(error)) throw new ApiError('not_ready', error.advice, { 'retry-after': '1' });
        throw error;
      }
      const note = readiness.note?.();
      return reply.type('text/plain; charset=utf-8').send(note === undefined ? 'ready\n' : `ready\n${note}\n`);
    },
  );
}
