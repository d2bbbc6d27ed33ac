/**
 * Types of what runs in the browser; nothing here is served. What the API answers is typed as far as the pages read it,
 * in the words of docs/openapi.json.
 */
import type * as monaco from 'monaco-editor';

export type Monaco = typeof monaco;

export type Problem = {
  path: string;
  line: number | null;
  column: number | null;
  severity: 'error' | 'warning';
  message: string;
  /** May be empty. */
  hint: string;
};

/** A project or a DAG file, as it was compiled last. */
export type Unit = { source: string; folder: string | null; dag_ids: string[]; problems: Problem[] };

export type Entry = { path: string; kind: 'file' | 'folder' | 'link' };

export type Workspace = {
  name: string;
  entries: Entry[];
  is_complete: boolean;
  units: Unit[] | null;
  runs_tests: boolean;
};

/** What a test of the editor runs: a task, a whole DAG, or tests of a file. */
export type TestOrder =
  | {
      kind: 'run';
      path: string;
      dag_id: string;
      task_id?: string;
      conf?: Record<string, unknown>;
      xcoms?: Record<string, unknown>;
    }
  | { kind: 'pytest'; path: string; test?: string };

/** A task instance, or a test of pytest. */
export type TestResult = {
  name: string;
  state: string | null;
  tries: number | null;
  seconds: number | null;
  xcoms: { key: string; json: string; is_cut: boolean }[];
  error: string | null;
  path: string | null;
  line: number | null;
};

export type WorkspaceTest = {
  test_id: string;
  kind: 'run' | 'pytest';
  path: string;
  dag_id: string | null;
  task_id: string | null;
  test: string | null;
  state: 'running' | 'success' | 'failed' | 'skipped' | 'stopped';
  problem: string | null;
  seconds: number;
  log: string;
  log_length: number;
  results: TestResult[];
};

export type FileTag = { path: string; etag: string };

export type FileContent = FileTag & { content: string };

export type RunState = 'queued' | 'running' | 'success' | 'failed';

export type Run = { dag_run_id: string; state: RunState };

export type Dag = { is_paused: boolean };

/** The calls of the editor. Each throws a `Failure` when it was refused or not answered. */
export type Api = {
  workspace: () => Promise<Workspace>;
  read: (path: string) => Promise<FileContent>;
  /** Replaces what has this tag. */
  write: (path: string, content: string, etag: string) => Promise<FileTag>;
  create: (path: string, content: string) => Promise<FileTag>;
  rename: (from: string, to: string) => Promise<void>;
  remove: (path: string, etag: string | undefined) => Promise<void>;
  compile: (path: string) => Promise<{ units: Unit[] }>;
  dag: (dagId: string) => Promise<Dag>;
  unpause: (dagId: string) => Promise<Dag>;
  trigger: (dagId: string) => Promise<Run>;
  run: (dagId: string, runId: string) => Promise<Run>;
  tasks: (dagId: string) => Promise<{ tasks: { task_id: string }[] }>;
  startTest: (order: TestOrder) => Promise<WorkspaceTest>;
  /** With the log after its first characters. */
  test: (logFrom: number) => Promise<{ test: WorkspaceTest | null }>;
  stopTest: () => Promise<void>;
};

export type ComponentHealth = {
  /** Null for a component that never ran. */
  status: string | null;
  latest_scheduler_heartbeat: string | null;
  latest_triggerer_heartbeat: string | null;
  latest_dag_processor_heartbeat: string | null;
};

export type Health = Record<'metadatabase' | 'scheduler' | 'triggerer' | 'dag_processor', ComponentHealth>;

export type Version = { version: string; git_version: string | null };

export type Executor = { agent_control_plane_addr: string; execution_modes: string[] };

/** What `element` takes: properties by their name, attributes by theirs when it has a dash. Undefined leaves it out. */
export type ElementProperties<Node extends HTMLElement> = {
  [Name in keyof Omit<Node, 'dataset' | 'style' | 'role'>]?: Node[Name] | undefined;
} & {
  dataset?: Record<string, string>;
  style?: string;
  role?: string;
  [attribute: `${string}-${string}`]: string | undefined;
};

/** Of the loader that Monaco brings along. */
type AmdRequire = {
  (modules: ['vs/editor/editor.main'], done: (loaded: Monaco) => void, failed: (error: Error) => void): void;
  config(settings: { paths: Record<string, string> }): void;
};

declare global {
  /** There once the loader has run. */
  var require: AmdRequire | undefined;
}
