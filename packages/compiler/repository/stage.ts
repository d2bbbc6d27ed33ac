/** What is known of a build stage of a Dockerfile while it is read. */
import type { ImageFiles } from './image-files.ts';
import type { StepFlag } from './pip-command.ts';
import type { Note } from './requirement-line.ts';

/** What one command installs, as lines of a requirements file. Paths are relative to the repository. */
export type InstallStep = {
  readonly flags: readonly StepFlag[];
  readonly lines: readonly { text: string; line: number }[];
};

/** One build stage, as far as it has been read. */
export type Stage = {
  base: string | undefined;
  home: string;
  workdir: string;
  env: Record<string, string>;
  /** ARG, and what the base image sets: known to commands, not recorded. */
  values: Record<string, string>;
  files: ImageFiles;
  steps: InstallStep[];
  apt: string[];
  notes: Note[];
};
