/** What the agent service needs from the rest of the control plane, in addition to the scheduler's `Attempts`. */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import type { TaskAssetEvent, TaskAssetEventQuery } from '../db/assets/task-events.ts';
import type { RunRow } from '../db/schema.ts';
import type { LogStore } from '../logs/store.ts';

export type LogSink = Pick<LogStore, 'append' | 'size' | 'prepare'>;

/** A task's request for a run of another DAG (TriggerDagRunOperator). */
export type TriggerRequest = {
  tenantId: string;
  dagId: string;
  runId?: string;
  /** Undefined: now. Null: none. */
  logicalDate?: string | null;
  runAfter?: string;
  conf?: Record<string, unknown>;
  note?: string | null;
  /** An existing run with the same id or date is cleared and starts again. */
  reset: boolean;
  /** The task that makes the request. */
  by: { dagId: string; runId: string; taskId: string };
};

type TriggeredRun = Pick<RunRow, 'id' | 'run_id' | 'logical_date' | 'state'>;

export type TriggerAnswer =
  | { kind: 'created'; run: TriggeredRun }
  | { kind: 'reset'; run: TriggeredRun }
  | { kind: 'no_such_dag' }
  | { kind: 'paused' }
  | { kind: 'duplicate'; what: 'dag_run_id' | 'logical_date' }
  | { kind: 'invalid_conf'; problems: readonly string[] }
  | { kind: 'timetable_failed'; problem: string }
  | { kind: 'run_type_not_allowed' };

export type TriggerRun = (request: TriggerRequest) => Promise<TriggerAnswer>;

/** Records the answer of a worker about a timetable; `problem` when the timetable raised. */
export type AnswerTimetable = (input: {
  tenantId: string;
  dagId: string;
  /** The id of the question. */
  id: string;
  answer: unknown;
  problem: string | null;
}) => Promise<void>;

export type ReadAssetEvents = (query: TaskAssetEventQuery) => Promise<readonly TaskAssetEvent[]>;

export type AgentLog = {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: Coded, message: string): void;
  error(details: Coded, message: string): void;
};
