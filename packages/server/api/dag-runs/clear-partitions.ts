/** Takes the partitions from runs, so that other runs may compute them; and the choice of runs by partition. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { clearPartitionsOf, findRunKeys, findRunsOfPartitions } from '../../db/dag-runs/dag-runs.ts';
import type { PartitionChoice } from '../../db/dag-runs/dag-runs.ts';
import { findDag } from '../../db/dags/dags.ts';
import { scopedToTenant } from '../../db/database.ts';
import type { TenantDb } from '../../db/database.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { clearRuns, previewClear } from '../../engine/edit/clear-many.ts';
import { refuseImported } from '../../engine/edit/select-instances.ts';
import type { RunKey } from '../../engine/edit/select-instances.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import { noSuchDag, noSuchRun } from '../paths.ts';
import type { Services } from '../services.ts';
import { noteAndAudit, optionsOf } from './clear.ts';
import { ClearPartitions, ClearedPartitions, RUN_TAGS } from './schemas.ts';

type Partitions = Pick<Static<typeof ClearPartitions>, 'partition_key' | 'partition_date_start' | 'partition_date_end'>;

const MAX_RUNS = 1_000;

/** Returns the partitions that a body names. Undefined: it names none. */
export function partitionsOf(body: Partitions): PartitionChoice | undefined {
  const { partition_key: key = null, partition_date_start: from = null, partition_date_end: to = null } = body;
  const hasDates = from !== null || to !== null;
  if (key !== null && hasDates) {
    throw new ApiError('invalid_request', 'partition_key: send either the key or the dates of partitions');
  }
  if (from !== null && to !== null && Date.parse(from) > Date.parse(to)) {
    throw new ApiError('invalid_request', 'partition_date_start: it is later than partition_date_end');
  }
  if (key !== null) return { key };
  return hasDates ? { from, to } : undefined;
}

export async function runsOfPartitions(db: TenantDb, dagId: string, choice: PartitionChoice): Promise<RunKey[]> {
  const runs = await findRunsOfPartitions(db, dagId, choice);
  if (runs.length <= MAX_RUNS) return runs;
  throw new ApiError('invalid_request', `partitions: these are more than ${MAX_RUNS} runs: choose fewer`);
}

export function registerClearPartitions(app: App, services: Services): void {
  const { db, scheduler } = services;
  app.post(
    '/api/v2/dags/:dag_id/clearPartitions',
    {
      config: { grows: 'instances', access: 'write:dag_run', refuses: ['conflict'] },
      schema: {
        operationId: 'clear_dag_run_partitions',
        tags: RUN_TAGS,
        summary: 'Set the partition key and the partition date of runs to null',
        description: 'With `dry_run`, the default, only counts. Name a partition, a range of dates, or a run.',
        params: Type.Object({ dag_id: Type.String() }),
        body: ClearPartitions,
        response: { 200: ClearedPartitions },
      },
    },
    async (request) => {
      const { body } = request;
      const { tenantId } = principalOf(request);
      const { dag_id: dagId } = request.params;
      const runs = await chosenRuns(databaseOf(request, db), dagId, body);
      const input = { tenantId, dagId, runs, options: optionsOf({ only_failed: false, only_new: false }, false) };
      const counted = { dag_runs_cleared: runs.length, task_instances_cleared: 0, dry_run: body.dry_run };
      if (body.dry_run) {
        if (!body.clear_task_instances) return counted;
        return { ...counted, task_instances_cleared: (await previewClear(db.shared, scheduler, input)).length };
      }
      await refuseImported(db.shared, { tenantId, runs });
      await db.shared.transaction().execute(async (trx) => {
        const scope = scopedToTenant(trx, tenantId);
        await clearPartitionsOf(
          scope,
          runs.map(({ id }) => id),
        );
        for (const { runId } of runs) {
          const run = { objectKind: 'dag_run' as const, objectId: runId, dagId, runId };
          await recordAudit(scope, actorOf(request), { event: 'clear_dag_run_partitions', ...run, detail: {} });
        }
      });
      if (!body.clear_task_instances) return counted;
      const whenCleared = (trx: TenantDb, run: RunKey) => noteAndAudit({ request, trx, dagId, run }, {});
      const outcome = await clearRuns(db, scheduler, { ...input, whenCleared });
      return { ...counted, task_instances_cleared: outcome.kind === 'cleared' ? outcome.instances.length : 0 };
    },
  );
}

async function chosenRuns(db: TenantDb, dagId: string, body: Static<typeof ClearPartitions>): Promise<RunKey[]> {
  if (!(await findDag(db, dagId))) throw noSuchDag(dagId);
  const partitions = partitionsOf(body);
  const { run_id: runId = null } = body;
  if ((runId === null) === (partitions === undefined)) {
    throw new ApiError('invalid_request', 'send one of partition_key, run_id, and the dates of partitions');
  }
  if (partitions !== undefined) return runsOfPartitions(db, dagId, partitions);
  const found = await findRunKeys(db, dagId, [runId ?? '']);
  if (found.length === 0) throw noSuchRun({ dag_id: dagId, dag_run_id: runId ?? '' });
  return found;
}
