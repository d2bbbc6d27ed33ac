/**
 * The refusals of each operation for the document: those of the rules that all operations share, and those that a route
 * names in `config.refuses`. A test fails when an answer is not in the document
 * (@svc/testing/vitest/declared-answers.ts).
 */
import type { RouteOptions } from 'fastify';
import { Type } from 'typebox';
import { titlesByStatus } from '../errors.ts';
import type { ErrorCode, Problem } from '../errors.ts';
import { PROBES } from '../probes.ts';
import { ProblemSchema } from '../schemas.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Errors of this handler in addition to those of every handler: `invalid_request`, and `not_found` for a path with
     * a parameter.
     */
    refuses?: readonly ErrorCode[];
    /** For paths that people open in a browser: builds the page that shows the problem. */
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

/** The server reads no body of these requests. */
const READ_METHODS = new Set(['GET', 'HEAD']);

export function refusalsOf({ method, url, config }: Pick<RouteOptions, 'method' | 'url' | 'config'>): object {
  const named = titlesByStatus(config?.refuses ?? []);
  const readsBody = [method].flat().some((each) => !READ_METHODS.has(each));
  const common = [
    400,
    ...(config?.access === 'public' ? [] : [401, 403]),
    ...(url.includes(':') ? [404] : []),
    ...(readsBody ? [413] : []),
    415, // an unknown Content-Encoding is refused even without a body
    ...(PROBES.has(url) ? [] : [429]), // probes are never refused
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

/** Joins the general sentence, where the general rule applies, with the errors of this operation. */
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
