/**
 * Links for lists that the specification does not page. Such a list is complete up to the maximum page size. If there
 * are more entries, the answer has a header (RFC 8288) in addition to `total_entries`. Its URL is relative to the URL
 * of the request:
 *
 *   Link: <?limit=…&offset=…>; rel="next"
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

/** `isOfOne` is true for a list of one run or one DAG. A list over all of them (`~`) is a normal page. */
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
