/**
 * What the editor wants to know about the compilation of workspace files. The watcher of the workspace implements it.
 */

export type WorkspaceProblem = {
  /** Relative to the workspace. For a file outside of it, the path that the compiler reports. */
  path: string;
  /** Counts from 1. Null if the problem concerns the whole file. */
  line: number | null;
  column: number | null;
  severity: 'error' | 'warning';
  message: string;
  /** What the author can do about it. It may be empty. */
  hint: string;
};

/** A project, or a plain DAG file. */
export type WorkspaceUnit = {
  /** The DAG file, relative to the workspace. */
  source: string;
  /** The folder that belongs to the project as a whole. Null for a plain DAG file. */
  folder: string | null;
  dagIds: readonly string[];
  problems: readonly WorkspaceProblem[];
};

export type WorkspaceCompiler = {
  /** The result of the last compilation of each unit. Undefined if this process does not compile. */
  units(): readonly WorkspaceUnit[] | undefined;
  /** Compiles the unit of the file and registers it. */
  compile(path: string): Promise<readonly WorkspaceUnit[] | undefined>;
};
