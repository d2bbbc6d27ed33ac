/** What an Airflow has, however it is asked: its database or its HTTP API. */
import type { Moment } from '../../schema.ts';

/** A secret of the source: in plain text, encrypted with the source's own key, or not given out. */
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
  /** Its file is there. */
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
  /** The order in which they are read, and where to go on. */
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
  /** Undefined: not known before they are read. */
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
  /** Without credentials: what the import is remembered by. */
  readonly name: string;
  /** For people: "Airflow 3, revision …". */
  readonly version: string;
  pools(): AsyncIterable<SourcePool>;
  variables(): AsyncIterable<SourceVariable>;
  connections(): AsyncIterable<SourceConnection>;
  dags(): AsyncIterable<SourceDag>;
  /** Or why there are none to be had. */
  users(): Promise<SourceUser[] | { unavailable: string }>;
  /** Names of DAGs that have runs. */
  dagsWithRuns(): Promise<string[]>;
  /** Pages of runs in the order of their positions. */
  runs(after: string | undefined, filter: HistoryFilter): AsyncIterable<SourceRun[]>;
  /** Pages of the instances of these runs, in the order of runs as the source has it. */
  instances(runs: readonly SourceRun[]): AsyncIterable<SourceTry[]>;
  /** Tries before the last one of each. */
  earlierTries(runs: readonly SourceRun[]): AsyncIterable<SourceTry[]>;
  /** The DAG as Airflow keeps it, as JSON; undefined when it does not, or does not give it out. */
  serializedDag(dagId: string): Promise<unknown>;
  /** `tasks` knows more when the instances were read. */
  readonly learnsTasks: boolean;
  /** What its instances tell of its tasks. */
  tasks(dagId: string): Promise<SourceTask[]>;
  close(): Promise<void>;
};
