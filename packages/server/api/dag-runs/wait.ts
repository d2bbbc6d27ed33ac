/**
 * Waits for the end of a run. The answer stays open and reports the state periodically, one JSON object per line, as in
 * Airflow. A client that accepts only JSON gets one object at the end. The line breaks before it keep the connection
 * alive and have no meaning in JSON.
 */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { isRunFinished } from '@svc/spec/states.ts';
import { findResults, findRunKey } from '../../db/dag-runs/dag-runs.ts';
import type { RunKey } from '../../db/dag-runs/dag-runs.ts';
import { findRunVersion } from '../../db/dag-runs/run-lookups.ts';
import { IMPORTED_VERSION } from '../../db/imports/imported-version.ts';
import type { TenantDb } from '../../db/database.ts';
import { isOutage } from '../../db/outage.ts';
import { preferredType } from '../../http/accept.ts';
import { databaseOf, principalOf, requirePermission } from '../../http/access.ts';
import { RunParams, noSuchRun } from '../paths.ts';
import { RUN_TAGS } from './schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import type { ReaderMask } from '../../vault/reader-masks.ts';
import { MAX_SHOWN_BYTES } from '../../xcom/stored/shown-text.ts';
import { textOf } from '../stored-value.ts';
import { maskFor } from '../../http/masked-fields.ts';
import { sendRaw } from '../../http/send-raw.ts';

const NDJSON = 'application/x-ndjson';
const JSON_TYPE = 'application/json';
/** The minimum of the requested interval, so that a wait does not load the database. */
const SHORTEST_INTERVAL_MS = 100;

export function registerRunWait(app: App, services: Services): void {
  const { db, readerMasks, storedValues, openStreams } = services;
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort()); // open waits would otherwise delay the shutdown

  app.get(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/wait',
    {
      compress: false, // compression would hold lines back
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'wait_dag_run_until_finished',
        tags: RUN_TAGS,
        summary: 'Wait until a run has ended, and get results of its tasks',
        description:
          'Streams a line with the state at each interval. The last one has the results that were asked for.',
        params: RunParams,
        querystring: Type.Object({
          interval: Type.Number({ minimum: 0, maximum: 86_400, description: 'Seconds between two looks' }),
          result: Type.Optional(
            Type.Array(Type.String(), {
              maxItems: 1_000,
              description: 'Tasks whose returned values are wanted. Default: the result of the DAG, if it has one',
            }),
          ),
        }),
        response: {
          200: { content: { [NDJSON]: { schema: Type.String() }, [JSON_TYPE]: { schema: Type.Unknown() } } },
        },
      },
    },
    async (request, reply) => {
      const { dag_id: dagId, dag_run_id: runId } = request.params;
      const { interval, result: named } = request.query;
      if (named !== undefined) requirePermission(request, 'read:xcom');
      const scope = databaseOf(request, db);
      const first = await findRunKey(scope, dagId, runId);
      if (!first) throw noSuchRun(request.params);
      const tasks = named ?? (await resultTasks(request, services, { dagId, runId }));
      const type = preferredType(request.headers.accept, [NDJSON, JSON_TYPE]);
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const mask = tasks.length > 0 ? await maskFor(request, readerMasks, 'write:xcom') : undefined;
      const pace = openStreams.open(request, reply);
      const lines = watch({
        db: scope,
        storedValues,
        mask,
        first,
        look: () => findRunKey(scope, dagId, runId),
        tasks,
        pause: () => pace.every(Math.max(interval * 1_000, SHORTEST_INTERVAL_MS)),
        isQuiet: type === JSON_TYPE,
        signal: AbortSignal.any([gone.signal, stopping.signal]),
      });
      return sendRaw(reply.type(type), Readable.from(lines, { objectMode: false }));
    },
  );
}

/** The tasks that the DAG file marks as the result. A caller without access to values gets none. */
async function resultTasks(
  request: FastifyRequest,
  { db, scheduler }: Services,
  { dagId, runId }: { dagId: string; runId: string },
): Promise<readonly string[]> {
  if (!principalOf(request).permissions.has('read:xcom')) return [];
  const { tenantId } = principalOf(request);
  const versionNumber = await findRunVersion(databaseOf(request, db), dagId, runId);
  if (versionNumber === undefined || versionNumber === IMPORTED_VERSION) return [];
  const { spec } = await scheduler.graphs.get(db.shared, { tenantId, dagId, versionNumber });
  return spec.dag.result_task_ids ?? [];
}

type Watch = {
  db: TenantDb;
  storedValues: Services['storedValues'];
  /** Masks the results for callers with read access only. */
  mask: ReaderMask | undefined;
  first: RunKey;
  look: () => Promise<RunKey | undefined>;
  tasks: readonly string[];
  /** Returns the time until the next look, in milliseconds. */
  pause: () => number;
  /** True if only the last line counts. */
  isQuiet: boolean;
  signal: AbortSignal;
};

async function* watch({
  db,
  storedValues,
  mask,
  first,
  look,
  tasks,
  pause,
  isQuiet,
  signal,
}: Watch): AsyncGenerator<string> {
  let run: RunKey | undefined = first;
  while (!isRunFinished(run.state)) {
    yield isQuiet ? '\n' : `${JSON.stringify({ state: run.state })}\n`;
    await sleep(pause(), undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const seen: RunKey | undefined = await look().catch((error: unknown) => {
      if (isOutage(error)) return run; // the outage may end before the run does
      throw error;
    });
    if (!seen) return; // the run was deleted and can no longer end
    run = seen;
  }
  const state = JSON.stringify(run.state);
  if (tasks.length === 0) {
    yield `{"state":${state}}\n`;
    return;
  }
  const results = await withTexts(db, storedValues, await findResults(db, run.id, tasks));
  yield `{"state":${state},"results":${resultsText(await masked(results, mask))}}\n`;
}

/** Reads stored values until they have this many bytes together, and describes the others. */
const MAX_STORED_BYTES = 4 * 1024 * 1024;

async function withTexts(
  db: TenantDb,
  values: Services['storedValues'],
  rows: Awaited<ReturnType<typeof findResults>>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  let left = MAX_STORED_BYTES;
  for (const row of rows) {
    const value = await textOf(db, values, row, Math.min(left, MAX_SHOWN_BYTES));
    if (row.stored !== null) left -= Buffer.byteLength(value);
    results.push({ ...row, value });
  }
  return results;
}

type Result = { task_id: string; map_index: number; value: string };

async function masked(results: readonly Result[], mask: ReaderMask | undefined): Promise<readonly Result[]> {
  if (!mask) return results;
  const shown: Result[] = [];
  for (const result of results) shown.push({ ...result, value: await mask(result.value) });
  return shown;
}

/** Joins the values, which are JSON text already. A mapped task has a list of them. */
function resultsText(results: readonly Result[]): string {
  const byTask = Map.groupBy(results, (result) => result.task_id);
  const members = [...byTask].map(([taskId, values]) => {
    const [only] = values;
    const isMapped = values.length > 1 || (only?.map_index ?? -1) >= 0;
    const text = isMapped ? `[${values.map(({ value }) => value).join()}]` : (only?.value ?? 'null');
    return `${JSON.stringify(taskId)}:${text}`;
  });
  return `{${members.join()}}`;
}
