/**
 * trigger_dag_run. A task repeats the call when the answer is lost, so answers are kept for a while. Another process
 * may have answered the first call. Therefore an existing run that matches the request counts as the created one.
 */
import { LRUCache } from 'lru-cache';
import { isRawNumber } from '@svc/spec/exact-json.ts';
import { findAttemptStart } from '../../db/attempts/live-attempts.ts';
import { findRunOrigin } from '../../db/dag-runs/run-lookups.ts';
import { isDagPaused } from '../../db/dags/version-lookups.ts';
import type { Database } from '../../db/database.ts';
import type { TriggerAnswer, TriggerRequest, TriggerRun } from '../collaborators.ts';
import { RpcError } from '../rpc-errors.ts';
import type { CallContext, CallMethod, CallResult } from './call-context.ts';

const KEPT = 5_000;

export function triggerCall(input: { db: Database; triggerRun: TriggerRun }): CallMethod {
  const answers = new LRUCache<string, Promise<CallResult>>({ max: KEPT });
  return (context) => {
    const key = `${context.identity.attemptId}/${context.requestId}`;
    const known = answers.get(key);
    if (known) return known;
    const answer = trigger(input, context);
    answers.set(key, answer);
    answer.catch(() => answers.delete(key)); // an error changed nothing, so the next call tries again
    return answer;
  };
}

async function trigger(
  { db, triggerRun }: { db: Database; triggerRun: TriggerRun },
  context: CallContext,
): Promise<CallResult> {
  const request = requestOf(context);
  if (
    context.params.flag('fail_when_dag_is_paused') &&
    (await isDagPaused(db.tenant(request.tenantId), request.dagId))
  ) {
    throw new RpcError('invalid', `DAG ${request.dagId} is paused`);
  }
  const answer = await triggerRun(request);
  if (answer.kind === 'created' || answer.kind === 'reset') return created(answer.run);
  if (answer.kind === 'duplicate') {
    const own = await ownRun(db, request, context);
    if (own) return created(own);
  }
  throw refusal(request, answer);
}

const created = (run: { run_id: string; logical_date: string | null; state: string }): CallResult => ({
  json: JSON.stringify({ run_id: run.run_id, logical_date: run.logical_date, state: run.state }),
});

function requestOf({ identity, runId: ownRunId, params }: CallContext): TriggerRequest {
  const runId = params.optionalText('run_id');
  const runAfter = params.optionalText('run_after');
  const conf = params.optionalObject('conf');
  const note = params.optionalText('note');
  const logicalDate = params.isNull('logical_date') ? null : params.optionalText('logical_date');
  return {
    tenantId: identity.tenantId,
    dagId: params.text('dag_id'),
    reset: params.flag('reset_dag_run'),
    by: { dagId: identity.dagId, runId: ownRunId, taskId: identity.taskId },
    ...(runId !== undefined && { runId }),
    ...(logicalDate !== undefined && { logicalDate }),
    ...(runAfter !== undefined && { runAfter }),
    ...(conf !== undefined && { conf }),
    ...(note !== undefined && { note }),
  };
}

function refusal(
  { dagId, runId }: TriggerRequest,
  answer: Exclude<TriggerAnswer, { kind: 'created' | 'reset' }>,
): RpcError {
  switch (answer.kind) {
    case 'no_such_dag':
      return new RpcError('not_found', `there is no DAG ${dagId}`);
    case 'timetable_failed':
      return new RpcError('invalid', `the timetable of DAG ${dagId} could not be asked: ${answer.problem}`);
    case 'paused':
      return new RpcError('invalid', `DAG ${dagId} is paused`);
    case 'duplicate':
      return new RpcError(
        'conflict',
        answer.what === 'dag_run_id'
          ? `DAG ${dagId} has a run ${runId}`
          : `DAG ${dagId} has a run of that logical date`,
      );
    case 'invalid_conf':
      return new RpcError('invalid', answer.problems.join('; '));
    case 'run_type_not_allowed':
      return new RpcError('invalid', `DAG ${dagId} does not allow runs that are triggered`);
  }
}

/**
 * Returns the existing run if this attempt created it: a task triggered it while the attempt ran, with the requested id
 * and conf.
 */
async function ownRun(db: Database, request: TriggerRequest, { identity }: CallContext) {
  if (request.runId === undefined) return undefined;
  const scoped = db.tenant(identity.tenantId);
  const startedAt = await findAttemptStart(scoped, identity);
  const run = await findRunOrigin(scoped, request.dagId, request.runId);
  if (!run || startedAt === null || run.triggered_by !== 'operator') return undefined;
  if (run.created_at < startedAt) return undefined;
  return isSameJson(run.conf, request.conf ?? {}) ? run : undefined;
}

const isSameJson = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

/** jsonb does not keep the order of keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, sorted(item)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
