/** What becomes of the workspace's files, as the editor wants to know it. Whoever watches the workspace implements it. */

export type WorkspaceProblem = {
  /** In the workspace; of a file elsewhere, as the compiler names it. */
  path: string;
  /** From 1; null when it is about the file as a whole. */
  line: number | null;
  column: number | null;
  severity: 'error' | 'warning';
  message: string;
  /** What to do about it; may be empty. */
  hint: string;
};

/** A project, or a plain DAG file. */
export type WorkspaceUnit = {
  /** The DAG file, in the workspace. */
  source: string;
  /** The folder all of whose files belong to it; null for a plain DAG file, which is alone. */
  folder: string | null;
  dagIds: readonly string[];
  problems: readonly WorkspaceProblem[];
};

export type WorkspaceCompiler = {
  /** As of the last time each was compiled; undefined while nothing is compiled here. */
  units(): readonly WorkspaceUnit[] | undefined;
  /** Compiles what the file belongs to, and registers it. */
  compile(path: string): Promise<readonly WorkspaceUnit[] | undefined>;
};
