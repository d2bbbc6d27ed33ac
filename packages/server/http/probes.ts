/** Liveness and readiness probes. Every role serves them. */
import { Type } from 'typebox';
import { isOutage } from '../db/outage.ts';
import { ApiError } from './errors.ts';
import { sendProblem } from './problems.ts';
import type { Readiness, Trouble } from './readiness.ts';
import type { App } from './typed-app.ts';

const TEXT_RESPONSE = { 200: { description: 'Yes', content: { 'text/plain': { schema: Type.String() } } } };

/** The paths of the probes, which are always served. */
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

  /** The trouble that was last logged. Probes come every few seconds, so each trouble is logged once. */
  let told: string | null = null;
  function tellOnce(trouble: Trouble | null): void {
    if ((trouble?.advice ?? null) === told) return;
    told = trouble?.advice ?? null;
    if (trouble) app.log.warn({ code: 'SVC1013' }, `not ready: ${trouble.cause}`);
    else app.log.info('ready again');
  }

  async function look(): Promise<Trouble | null> {
    const reason = readiness.reason();
    if (reason !== null) return { cause: reason, advice: reason };
    try {
      await db.ping();
      return (await readiness.trouble?.()) ?? null;
    } catch (error) {
      if (!isOutage(error)) throw error;
      return { cause: error.message, advice: error.advice };
    }
  }

  app.get(
    '/readyz',
    {
      config: { access: 'public' },
      schema: { operationId: 'readyz', tags: ['Probes'], summary: 'Can it serve requests?', response: TEXT_RESPONSE },
    },
    async (request, reply) => {
      const trouble = await look();
      tellOnce(trouble);
      if (trouble) {
        const problem = new ApiError('not_ready', trouble.advice, { 'retry-after': '1' });
        return sendProblem(request, reply, problem);
      }
      const note = await readiness.note?.();
      return reply.type('text/plain; charset=utf-8').send(note === undefined ? 'ready\n' : `ready\n${note}\n`);
    },
  );
}
