import { Type } from 'typebox';
import { listTags } from '../../db/dags/dags.ts';
import { databaseOf } from '../../http/access.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

export function registerDagTags(app: App, { db }: Services): void {
  app.get(
    '/api/v2/dagTags',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_dag_tags',
        tags: ['DAGs'],
        summary: 'List the tags in use',
        querystring: Type.Object({ ...PagingQuery, ...OrderByQuery(['name']), ...PatternQuery('tag_name') }),
        response: {
          200: Type.Object(
            { tags: Type.Array(Type.String()), total_entries: Type.Integer() },
            { title: 'DagTagCollection' },
          ),
        },
      },
    },
    async (request) => {
      const {
        limit,
        offset,
        order_by: keys,
        tag_name_pattern: pattern,
        tag_name_prefix_pattern: prefix,
      } = request.query;
      const [order] = parseOrderBy(keys, { name: 'name' }, [{ column: 'name', direction: 'asc' }]);
      const names = parsePatterns({ pattern, prefix });
      const { tags, total } = await listTags(databaseOf(request, db), {
        limit,
        offset,
        descending: order?.direction === 'desc',
        names,
      });
      return { tags, total_entries: total };
    },
  );
}
