/**
 * Lists that the specification does not call paged come whole up to the longest page there is. Where there is more, the answer
 * says so beside `total_entries`: `Link: <?limit=…&offset=…>; rel="next"` (RFC 8288), relative to what was asked.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { DEFAULT_LIMIT, MAX_LIMIT, PagingQuery } from './schemas.ts';

export const WholeListQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIMIT,
      description: `How many entries at most; without it ${MAX_LIMIT}, where the path has \`~\` ${DEFAULT_LIMIT}. A \`Link\` header with \`rel="next"\` says that there are more`,
    }),
  ),
  offset: PagingQuery.offset,
};

/** `isOfOne`: of one run, or of one DAG; with `~` it is a page like any other. */
export const limitOf = (limit: number | undefined, { isOfOne }: { isOfOne: boolean }): number =>
  limit ?? (isOfOne ? MAX_LIMIT : DEFAULT_LIMIT);

export const WHOLE_UP_TO_A_PAGE = `Whole up to ${MAX_LIMIT} entries. Where there are more, \`total_entries\` is larger than the list, and a \`Link\` header with \`rel="next"\` leads on.`;

export function linkToNextPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: { limit: number; offset: number; total: number },
): void {
  const { limit, offset, total } = page;
  if (offset + limit >= total) return;
  const query = new URL(request.url, 'http://here.invalid').searchParams;
  query.set('limit', String(limit));
  query.set('offset', String(offset + limit));
  void reply.header('link', `<?${query}>; rel="next"`);
}
