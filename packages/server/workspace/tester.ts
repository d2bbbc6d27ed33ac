/**
 * Runs tasks and tests of workspace files for the editor. Nothing is stored: a caller has one test, which is kept in
 * memory until the caller starts another one. Lite implements it.
 */

export type WorkspaceTestOrder = {
  /** Identifies the caller. A caller has at most one test that runs. */
  user: string;
  /** Relative to the workspace: a DAG file, or a file of tests. */
  path: string;
} & (
  | {
      kind: 'run';
      dagId: string;
      /** Null: the whole DAG. */
      taskId: string | null;
      conf: Readonly<Record<string, unknown>>;
      /** Values of tasks that do not run, by task id, or by task id and key: `extract:count`. */
      xcoms: Readonly<Record<string, unknown>>;
    }
  /** The tests of the file, or those of a DAG file. `test` chooses one, as in `TestLoad::test_empty`. */
  | { kind: 'pytest'; test: string | null }
);

export type WorkspaceTestState = 'running' | 'success' | 'failed' | 'skipped' | 'stopped';

/** A task instance, or a test. */
export type WorkspaceTestResult = {
  name: string;
  state: string | null;
  tries: number | null;
  seconds: number | null;
  /** Values that a task pushed, as JSON. Long values are cut. */
  xcoms: readonly { key: string; json: string; isCut: boolean }[];
  error: string | null;
  /** The author's line that raised the error. Relative to the workspace, or absolute outside of it. */
  path: string | null;
  line: number | null;
};

export type WorkspaceTest = {
  id: string;
  order: WorkspaceTestOrder;
  state: WorkspaceTestState;
  /** Why there is no result, or why it is not complete. */
  problem: string | null;
  seconds: number;
  /** What tasks and tests have printed so far. */
  log: string;
  results: readonly WorkspaceTestResult[];
};

/** `busy`: another test runs. `invalid`: there is no such file, DAG, task or test. The message is for people. */
export class WorkspaceTestRefused extends Error {
  readonly reason: 'busy' | 'invalid';

  constructor(reason: 'busy' | 'invalid', message: string) {
    super(message);
    this.reason = reason;
  }
}

export type WorkspaceTester = {
  /** Rejects with a WorkspaceTestRefused. */
  start(order: WorkspaceTestOrder): Promise<WorkspaceTest>;
  /** The latest test of the user. */
  find(user: string): WorkspaceTest | undefined;
  /** Resolves when the processes of the test have ended. Returns false if the user has no test that runs. */
  stop(user: string): Promise<boolean>;
};
