/** What keeps a file from compiling, or is worth a warning. */
import type { FileLimitError } from '@svc/spec/files/limits.ts';
import type { ProjectProblem } from '@svc/spec/project/load.ts';

export const PROJECT_FILE = 'svc.yaml';

export type UnitProblem = {
  /** Relative to the unit's root. */
  file: string;
  line: number | null;
  column: number | null;
  message: string;
  /** What to do instead; may be empty. */
  instead: string;
  /** The traceback, where there is one. */
  traceback: string;
};

export const NOWHERE = { line: null, column: null, instead: '', traceback: '' };

export const inProjectFile = ({ message, line, column, instead = '' }: ProjectProblem): UnitProblem => ({
  ...NOWHERE,
  file: PROJECT_FILE,
  line,
  column,
  message,
  instead,
});

export const ofLimit = ({ file, line, message, instead }: FileLimitError): UnitProblem => ({
  ...NOWHERE,
  file,
  line,
  message,
  instead,
});
