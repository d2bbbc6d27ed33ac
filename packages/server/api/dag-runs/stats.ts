/** Counts the runs of each DAG by state. */
import { Type } from 'typebox';
import { RUN_STATES } from '@svc/spec/states.ts';
import { countRunsByState } from '../../db/dag-runs/stats.ts';
import { databaseOf } from '../../http/access.ts';
import { RUN_TAGS, RunStateWord } from './schemas.ts';
import { Collection } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const DagStats = Type.Object(
  {
    dag_id: Type.String(),
    dag_display_name: Type.String(),
    stats: Type.Array(Type.Object({ state: RunStateWord, count: Type.Integer() }), {
      description: 'Every state, also those that no run is in',
    }),
  },
  { title: 'DagStats' },
);

export function registerDagStats(app: App, { db }: Services): void {
  app.get(
    '/api/v2/dagStats',
    {
      config: { grows: 'dags', access: 'read:dag_run' },
      schema: {
        operationId: 'get_dag_stats',
        tags: RUN_TAGS,
        summary: 'Count runs by DAG and state',
        querystring: Type.Object({
          dag_ids: Type.Optional(
            Type.Array(Type.String(), { maxItems: 1_000, description: 'Only these; default: all that are not stale' }),
          ),
        }),
        response: { 200: Collection('DagStatsCollection', 'dags', DagStats) },
      },
    },
    async (request) => {
      const rows = await countRunsByState(databaseOf(request, db), request.query.dag_ids);
      const dags = rows.map(({ dag_id: dagId, display_name: displayName, counts }) => ({
        dag_id: dagId,
        dag_display_name: displayName,
        stats: RUN_STATES.map((state) => ({ state, count: counts[state] })),
      }));
      return { dags, total_entries: dags.length };
    },
  );
}
