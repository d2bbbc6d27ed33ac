/** Values that a clear has deleted in a run with a failed try, for a replay of that try. */
import { Type } from 'typebox';
import { listReplacedXcoms } from '../../db/task-instances/replaced-xcoms.ts';
import { findRunKey } from '../../db/task-instances/xcoms.ts';
import { databaseOf } from '../../http/access.ts';
import { maskFor } from '../../http/masked-fields.ts';
import { Collection, DateTime, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { RunParams, noSuchRun } from '../paths.ts';
import type { Services } from '../services.ts';

/** Each value has up to `xcom.inline_max_bytes`. */
const MAX_PAGE = 100;

const ReplacedXcom = Type.Object(
  {
    task_id: Type.String(),
    map_index: Type.Integer({ description: '-1: not mapped' }),
    key: Type.String(),
    value: Type.String({ description: 'JSON text, as the task encoded it' }),
    written_at: DateTime,
    replaced_at: DateTime,
  },
  { title: 'ReplacedXCom' },
);

export function registerReplacedXcoms(app: App, { db, readerMasks }: Services): void {
  app.get(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/replacedXcomEntries',
    {
      config: { access: 'read:xcom' },
      schema: {
        operationId: 'get_replaced_xcom_entries',
        tags: ['XComs'],
        summary: 'List cross-task values that a clear has deleted',
        description:
          'Only of runs with a failed try. Ordered by task_id, map_index, key and replaced_at. A large value has its description.',
        params: RunParams,
        querystring: Type.Object({
          ...PagingQuery,
          limit: Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: MAX_PAGE }),
        }),
        response: { 200: Collection('ReplacedXComCollection', 'replaced_xcom_entries', ReplacedXcom) },
      },
    },
    async (request) => {
      const { dag_id: dagId, dag_run_id: runId } = request.params;
      const scope = databaseOf(request, db);
      const run = await findRunKey(scope, dagId, runId);
      if (!run) throw noSuchRun(request.params);
      const { entries, total } = await listReplacedXcoms(scope, { run: run.run, ...request.query });
      const mask = await maskFor(request, readerMasks, 'write:xcom');
      const shown = [];
      for (const entry of entries) {
        shown.push({ ...entry, value: mask ? await mask(entry.value, entry.key) : entry.value });
      }
      return { replaced_xcom_entries: shown, total_entries: total };
    },
  );
}
