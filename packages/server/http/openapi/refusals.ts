/**
 * What operations may answer beside success: what follows from the rules that hold for all of them, and what a route names in
 * `config.refuses`. Tests fail for an answer that the document does not have (@svc/testing/vitest/declared-answers.ts).
 */
import type { RouteOptions } from 'fastify';
import { Type } from 'typebox';
import { titlesByStatus } from '../errors.ts';
import type { ErrorCode, Problem } from '../errors.ts';
import { PROBES } from '../probes.ts';
import { ProblemSchema } from '../schemas.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What its handler refuses with, beside what any may: `invalid_request`, and `not_found` where the path names something. */
    refuses?: readonly ErrorCode[];
    /** Of paths that browsers are sent to: the page that tells a person what a problem body tells a program. */
    problemPage?: (problem: Problem, requestId: string) => string;
  }
}

const DESCRIPTIONS: Record<number, string> = {
  400: 'The request is not valid; `detail` names the field',
  401: 'No token, or one that is not valid any more',
  403: 'The caller lacks the permission named in `detail`',
  404: 'There is no such thing, or not for the caller',
  413: 'The body is larger than this path accepts',
  415: 'The body is not `application/json`, or compressed in a way that is not known',
  429: 'The caller has too many requests waiting; `Retry-After` says when to come back',
  431: 'The request line and headers are longer than 16 KiB',
  500: 'Something went wrong here; the log has the details under the request id',
  503: 'The database, or what this call needs, is not available right now; or the server is overloaded',
};

/** Of GET and HEAD no body is read. */
const READ_METHODS = new Set(['GET', 'HEAD']);

export function refusalsOf({ method, url, config }: Pick<RouteOptions, 'method' | 'url' | 'config'>): object {
  const named = titlesByStatus(config?.refuses ?? []);
  const readsBody = [method].flat().some((each) => !READ_METHODS.has(each));
  const common = [
    400,
    ...(config?.access === 'public' ? [] : [401, 403]),
    ...(url.includes(':') ? [404] : []),
    ...(readsBody ? [413] : []),
    415, // a Content-Encoding that nobody knows is refused whether a body follows or not
    ...(PROBES.has(url) ? [] : [429]), // probes are never turned away
    431,
    500,
    503,
  ];
  const statuses = new Set([...common, ...named.keys()]);
  const forPeople = config?.problemPage !== undefined;
  return Object.fromEntries(
    [...statuses].map((status) => [status, problem(describe(status, named, common), forPeople)]),
  );
}

/** The general sentence where the general rule applies, and what this operation has of its own. */
function describe(status: number, named: ReadonlyMap<number, readonly string[]>, common: readonly number[]): string {
  const own = named.get(status) ?? [];
  const general = common.includes(status) || own.length === 0 ? [DESCRIPTIONS[status] ?? ''] : [];
  return [...general, ...own].join('; ');
}

const problem = (description: string, forPeople: boolean) => ({
  description,
  content: {
    'application/problem+json': { schema: ProblemSchema },
    ...(forPeople && { 'text/html': { schema: Type.String() } }),
  },
});
