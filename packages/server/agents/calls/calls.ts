/** All methods that a running task may call, by name. */
import type { Liveness } from '../liveness.ts';
import { RpcError } from '../rpc-errors.ts';
import type { CallContext, CallMethod, CallResult } from './call-context.ts';
import { deadlineCall } from './deadline-call.ts';
import { hitlCall } from './hitl-call.ts';
import { listenersCalls } from './listeners-call.ts';
import { providersCall } from './providers-call.ts';
import { runCalls } from './run-calls.ts';
import { secretCalls } from './secret-calls.ts';
import { FENCED_STATE_CALLS, stateCalls } from './state-calls.ts';
import { timetableCall } from './timetable-call.ts';
import { treeCalls } from './tree-calls.ts';
import { triggerCall } from './trigger-call.ts';
import { xcomCalls } from './xcom-calls.ts';

export type CallsInput = { liveness: Liveness } & Parameters<typeof providersCall>[0] &
  Parameters<typeof runCalls>[0] &
  Parameters<typeof secretCalls>[0] &
  Parameters<typeof stateCalls>[0] &
  Parameters<typeof timetableCall>[0] &
  Parameters<typeof treeCalls>[0] &
  Parameters<typeof triggerCall>[0] &
  Parameters<typeof xcomCalls>[0];

const SECRETS: Readonly<Record<string, { kind: string; parameter: string }>> = {
  get_variable: { kind: 'variable', parameter: 'key' },
  get_connection: { kind: 'connection', parameter: 'id' },
};
/** Methods whose own statement is fenced. */
const FENCED = new Set<string>(['set_xcom', 'delete_xcom', 'store_value', ...FENCED_STATE_CALLS]);

export function createCalls(input: CallsInput): (method: string, context: CallContext) => Promise<CallResult> {
  const { liveness } = input;
  const methods = new Map<string, CallMethod>(
    Object.entries({
      ...xcomCalls(input),
      ...secretCalls(input),
      ...stateCalls(input),
      ...runCalls(input),
      ...listenersCalls(input),
      ...treeCalls(input),
      trigger_dag_run: triggerCall(input),
      answer_timetable: timetableCall(input),
      answer_deadline: deadlineCall(input),
      ask_person: hitlCall(input),
      report_providers: providersCall(input),
    }),
  );

  return async (name, context) => {
    const method = methods.get(name);
    if (!method) throw new RpcError('unknown_method', `there is no method ${name}`);
    const secret = Object.hasOwn(SECRETS, name) ? SECRETS[name] : undefined;
    if (secret) {
      const about = { kind: secret.kind, name: context.params.text(secret.parameter) };
      await liveness.checkSecret(context.identity, context.runId, about);
    } else if (!FENCED.has(name) && !(await liveness.isLive(context.identity))) {
      throw new RpcError('stale', 'the attempt is over');
    }
    return method(context);
  };
}
