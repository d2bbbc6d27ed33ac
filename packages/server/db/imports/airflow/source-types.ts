/** What an Airflow contains, whether its database or its HTTP API is read. */
import type { Moment } from '../../schema.ts';

/** A secret of the source: in plain text, encrypted with the source's own key, or withheld. */
export type SourceSecret =
  | { kind: 'none' }
  | { kind: 'plain'; text: string }
  | { kind: 'encrypted'; token: string }
  | { kind: 'withheld' };

export type SourcePool = { name: string; slots: number; description: string | null; includeDeferred: boolean };

export type SourceVariable = { key: string; value: SourceSecret; description: string | null };

export type SourceConnection = {
  id: string;
  type: string;
  description: string | null;
  host: string | null;
  schema: string | null;
  login: string | null;
  port: number | null;
  password: SourceSecret;
  extra: SourceSecret;
};

export type SourceDag = {
  id: string;
  displayName: string;
  description: string | null;
  fileloc: string;
  relativeFileloc: string | null;
  owners: string[];
  tags: string[];
  isPaused: boolean;
  /** True when its file exists. */
  isActive: boolean;
};

export type SourceUser = {
  username: string;
  email: string;
  isActive: boolean;
  roles: string[];
  hasPassword: boolean;
};

export type SourceRun = {
  /** The position in the order of reading, from which an import can continue. */
  position: string;
  dagId: string;
  runId: string;
  runType: string;
  state: string | null;
  logicalDate: Moment | null;
  dataIntervalStart: Moment | null;
  dataIntervalEnd: Moment | null;
  runAfter: Moment | null;
  queuedAt: Moment | null;
  startDate: Moment | null;
  endDate: Moment | null;
  /** JSON text, or bytes that Python pickled. */
  conf: string | Uint8Array | null;
  triggeredBy: string | null;
  triggeringUser: string | null;
  note: string | null;
  noteUser: string | null;
  partitionKey: string | null;
  /** Undefined: unknown before they are read. */
  instances: number | undefined;
};

export type SourceTry = {
  dagId: string;
  runId: string;
  taskId: string;
  mapIndex: number;
  state: string | null;
  tryNumber: number;
  maxTries: number;
  operator: string | null;
  operatorName: string | null;
  pool: string;
  poolSlots: number;
  priorityWeight: string;
  queue: string;
  scheduledAt: Moment | null;
  queuedAt: Moment | null;
  startDate: Moment | null;
  endDate: Moment | null;
  hostname: string;
  pid: number | null;
  renderedMapIndex: string | null;
  note: string | null;
  noteUser: string | null;
};

export type SourceTask = { taskId: string; operator: string | null; operatorName: string | null; isMapped: boolean };

/** Undefined: all. */
export type HistoryFilter = { dagIds: readonly string[] | undefined; since: Moment | undefined };

export type AirflowSource = {
  /** Without credentials. It identifies the import. */
  readonly name: string;
  /** For people: "Airflow 3, revision …". */
  readonly version: string;
  pools(): AsyncIterable<SourcePool>;
  variables(): AsyncIterable<SourceVariable>;
  connections(): AsyncIterable<SourceConnection>;
  dags(): AsyncIterable<SourceDag>;
  /** Returns the users, or why there are none. */
  users(): Promise<SourceUser[] | { unavailable: string }>;
  /** Names of DAGs that have runs. */
  dagsWithRuns(): Promise<string[]>;
  /** Pages of runs in the order of their positions. */
  runs(after: string | undefined, filter: HistoryFilter): AsyncIterable<SourceRun[]>;
  /** Pages of the instances of these runs, in the source's order of runs. */
  instances(runs: readonly SourceRun[]): AsyncIterable<SourceTry[]>;
  /** The tries before the last one of each instance. */
  earlierTries(runs: readonly SourceRun[]): AsyncIterable<SourceTry[]>;
  /** The DAG as Airflow stores it, as JSON. Undefined when Airflow does not store it or withholds it. */
  serializedDag(dagId: string): Promise<unknown>;
  /** True when `tasks` knows more after the instances were read. */
  readonly learnsTasks: boolean;
  /** What the instances tell about the DAG's tasks. */
  tasks(dagId: string): Promise<SourceTask[]>;
  close(): Promise<void>;
};
