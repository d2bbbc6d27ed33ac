/**
 * The calls of a triggerer. Its credential identifies a process and not a task. Calls in the name of a trigger are
 * answered as for the trigger's task, while the triggerer has the lease of the trigger.
 *
 *   next_triggers   triggers to start and to stop; the answer waits for a change
 *   fire_trigger    the trigger has an event
 *   log_trigger     lines for the log of the trigger's task
 *   all others      calls of tasks, with `trigger` in addition to the parameters
 */
import { nowIso } from '@svc/spec/clock.ts';
import type { TriggerRow } from '../../db/schema.ts';
import type { TriggerReports } from '../../engine/triggers/trigger-reports.ts';
import type { Keyring } from '../../vault/keyring.ts';
import { logKeyOf } from '../attempt-logs.ts';
import type { AttemptLogs } from '../attempt-logs.ts';
import { readParams } from '../calls/call-context.ts';
import type { CallContext, CallResult, Params } from '../calls/call-context.ts';
import type { LogSink } from '../collaborators.ts';
import type { AttemptIdentity } from '../credentials.ts';
import { RpcError } from '../rpc-errors.ts';
import type { AttemptVersions } from '../versions.ts';
import { openDeferral } from './sealed-deferral.ts';

/** The calls of tasks that a trigger may make. */
const FOR_TRIGGERS = new Set([
  'get_xcom',
  'read_value',
  'get_variable',
  'set_variable',
  'delete_variable',
  'get_connection',
  'external_states',
  'get_dag_run_state',
]);

const MAX_LOG_TRIES = 5;

export type TriggererCallsInput = {
  triggers: () => TriggerReports;
  keyring: Keyring;
  versions: AttemptVersions;
  logs: LogSink;
  runIdOf: AttemptLogs['runIdOf'];
  calls: (method: string, context: CallContext) => Promise<CallResult>;
};

export function createTriggererCalls(input: TriggererCallsInput) {
  const { keyring, versions, logs, runIdOf } = input;

  async function next(identity: AttemptIdentity, params: Params): Promise<CallResult> {
    const idsIn = (name: string) => (params.optionalList(name) ?? []).map(Number).filter(Number.isSafeInteger);
    const orders = await input.triggers().next(refOf(identity), idsIn('known'), idsIn('stopping'));
    const start = await Promise.all(orders.start.map(orderOf));
    return { json: JSON.stringify({ start, cancel: orders.cancel, kill: orders.kill, end: orders.isOver }) };
  }

  async function orderOf(trigger: TriggerRow) {
    const owner = identityOf(trigger);
    const version = await versions.get(owner);
    const runId = trigger.run === null ? null : await runIdOf(owner).catch(() => null);
    return {
      id: trigger.id,
      kind: trigger.kind,
      class_path: trigger.class_path,
      kwargs: openDeferral(keyring, trigger).kwargs,
      dag_id: trigger.dag_id,
      run_id: runId,
      task_id: trigger.task_id,
      map_index: trigger.map_index,
      try_number: trigger.try_number,
      declared: version && {
        connections: [...version.secrets.connections],
        variables: [...version.secrets.variables],
      },
    };
  }

  async function held(identity: AttemptIdentity, params: Params): Promise<TriggerRow> {
    const triggerId = params.optionalInteger('trigger');
    const trigger = triggerId && (await input.triggers().find({ ...refOf(identity), triggerId }));
    if (!trigger) throw new RpcError('stale', 'this triggerer does not hold the trigger any more');
    return trigger;
  }

  async function fire(identity: AttemptIdentity, params: Params, requestId: string): Promise<CallResult> {
    const triggerId = params.optionalInteger('trigger') ?? 0;
    const event = params.text('event');
    checkEvent(event);
    const isApplied = await input
      .triggers()
      .fire({ ...refOf(identity), triggerId }, event, `${identity.attemptId} ${requestId}`);
    return { json: JSON.stringify(isApplied) };
  }

  /** Writes at the end of the log: the previous attempt of the task has ended, and the next one has not begun. */
  async function log(identity: AttemptIdentity, params: Params): Promise<CallResult> {
    const trigger = await held(identity, params);
    const owner = identityOf(trigger);
    if (trigger.kind !== 'task' && trigger.kind !== 'killed') return { json: 'null' };
    const key = logKeyOf(owner, await runIdOf(owner));
    const records = params.optionalList('records') ?? [];
    const lines = records.map((record) => `${JSON.stringify(lineOf(record))}\n`).join('');
    const bytes = Buffer.from(lines);
    for (let tries = 0; bytes.length > 0 && tries < MAX_LOG_TRIES; tries += 1) {
      const offset = await logs.size(key);
      const { length } = await logs.append(key, offset, bytes);
      if (length === offset + bytes.length) break;
    }
    return { json: 'null' };
  }

  type OwnCall = (identity: AttemptIdentity, params: Params, requestId: string) => Promise<CallResult>;
  const own: Readonly<Record<string, OwnCall>> = {
    next_triggers: next,
    fire_trigger: fire,
    log_trigger: log,
  };

  return async (
    identity: AttemptIdentity,
    request: { method: string; params_json: string; request_id: string },
  ): Promise<CallResult> => {
    const { method, params_json: json, request_id: requestId } = request;
    const params = readParams(json);
    const call = Object.hasOwn(own, method) ? own[method] : undefined;
    if (call) return call(identity, params, requestId);
    if (!FOR_TRIGGERS.has(method)) throw new RpcError('unknown_method', `a trigger cannot call ${method}`);
    const owner = identityOf(await held(identity, params));
    const version = await versions.get(owner);
    if (!version) throw new RpcError('stale', 'the DAG version of this trigger has been deleted');
    const runId = owner.run === 0 ? '' : await runIdOf(owner);
    return input.calls(method, { identity: owner, runId, version, params, requestId });
  };
}

export const refOf = ({ tenantId, attemptId }: Pick<AttemptIdentity, 'tenantId' | 'attemptId'>) => ({
  tenantId,
  triggererId: attemptId,
});

/** The identity of a trigger: the task that waits for it. */
const identityOf = (trigger: TriggerRow): AttemptIdentity => ({
  kind: 'trigger',
  tenantId: trigger.tenant_id,
  dagId: trigger.dag_id,
  run: trigger.run ?? 0,
  taskId: trigger.task_id ?? '',
  mapIndex: trigger.map_index ?? -1,
  tryNumber: trigger.try_number ?? 0,
  versionNumber: trigger.version_number,
  attemptId: trigger.attempt_id ?? '',
  issuedAt: 0,
});

function checkEvent(text: string): void {
  try {
    const event: unknown = JSON.parse(text);
    if (typeof event === 'object' && event !== null && !Array.isArray(event)) return;
  } catch {
    // refused below
  }
  throw new RpcError('invalid', 'event must be a JSON object');
}

function lineOf(record: unknown): object {
  const fields = typeof record === 'object' && record !== null ? record : { event: String(record) };
  return { timestamp: nowIso(), level: 'info', ...fields };
}
