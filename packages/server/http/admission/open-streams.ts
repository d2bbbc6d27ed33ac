/**
 * Answers that stay open: a followed log, and the wait for a run. They hold no place among the requests that are served
 * (admission.ts), so they have limits of their own. With many of them, each looks less often. The work that all open
 * answers of one tenant cause therefore stays the same, and other tenants do not notice them.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { principalOf } from '../access.ts';
import { ApiError } from '../errors.ts';

export type Pace = {
  /** Returns the time between two looks: `ms`, or longer if the tenant has many open answers. */
  every(ms: number): number;
  /** Returns the shortest time between two parts of an answer, even if it grows faster. */
  least(): number;
};

export type OpenStreams = {
  /** Counts the answer until its connection closes. */
  open(request: FastifyRequest, reply: FastifyReply): Pace;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** True when the answer waits for something, so it must not hold a place. */
    staysOpen?: boolean;
  }
}

const MOST_OF_TENANT = 1_000;
/** All open answers of a tenant together look at most this often. */
const LOOKS_PER_SECOND = 100;
/** With more open answers than these, an answer has a shortest time between two parts. */
const WITHOUT_PAUSE = 50;
const PARTS_PER_SECOND = 250;

export function createOpenStreams(): OpenStreams {
  const counts = new Map<string, number>();
  return {
    open(request, reply) {
      const { tenantId } = principalOf(request);
      const count = (): number => counts.get(tenantId) ?? 0;
      if (count() >= MOST_OF_TENANT)
        throw new ApiError(
          'overloaded',
          `your tenant has ${MOST_OF_TENANT} open answers (followed logs, waits for runs): close some, or try again later`,
        );
      counts.set(tenantId, count() + 1);
      reply.raw.once('close', () => {
        if (count() === 1) counts.delete(tenantId);
        else counts.set(tenantId, count() - 1);
      });
      request.staysOpen = true;
      return {
        every: (ms) => Math.max(ms, (count() * 1_000) / LOOKS_PER_SECOND),
        least: () => (count() > WITHOUT_PAUSE ? (count() * 1_000) / PARTS_PER_SECOND : 0),
      };
    },
  };
}
