/** Decodes and checks the ids in the URI of a resource. A refusal says what is allowed. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Variables } from '@modelcontextprotocol/server';
import { isSafeDagId, isSafeRunId, isSafeTaskId } from '../control-plane/ids.ts';
import type { RunRef, TryRef } from '../control-plane/ids.ts';
import { safeText } from '@svc/spec/text/safe-text.ts';
import { MAX_INT } from '../tools/inputs.ts';

/** The error for a mistake of the client. A retry with the same URI does not help. */
export const invalid = (message: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

function part(variables: Variables, name: string, isValid: (id: string) => boolean): string {
  const value = variables[name];
  try {
    const id = decodeURIComponent(typeof value === 'string' ? value : '');
    if (isValid(id)) return id;
  } catch {
    // invalid percent-encoding is refused below
  }
  throw invalid(
    `${name} in the URI is not an id: ${JSON.stringify(safeText(String(value), 100))}. Use the id as list_dags or diagnose_run shows it, percent-encoded where it has characters that a URI may not have`,
  );
}

export const dagIdOf = (variables: Variables): string => part(variables, 'dag_id', isSafeDagId);

export const runRefOf = (variables: Variables): RunRef => ({
  dagId: dagIdOf(variables),
  runId: part(variables, 'run_id', isSafeRunId),
});

const isWhole = (min: number) => (text: string) =>
  /^(?:0|[1-9]\d{0,9})$/.test(text) && Number(text) >= min && Number(text) <= MAX_INT;

/** Includes `map_index` if the URI has one. */
export const tryRefOf = (variables: Variables): TryRef => ({
  ...runRefOf(variables),
  taskId: part(variables, 'task_id', isSafeTaskId),
  tryNumber: Number(part(variables, 'try_number', isWhole(1))),
  ...('map_index' in variables && { mapIndex: Number(part(variables, 'map_index', isWhole(0))) }),
});
