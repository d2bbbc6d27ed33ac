/** Why there is no Python environment, in words a person can act on. */
import type { PythonRun } from './run-python.ts';

export class PythonEnvironmentError extends Error {
  /** What to do next. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.name = 'PythonEnvironmentError';
    this.hint = hint;
  }
}

const QUOTED_LINES = 8;

/** The usual ways in which making an environment fails, by the words of venv and pip. The first that matches counts. */
const CAUSES: readonly { pattern: RegExp; hint: string }[] = [
  {
    pattern: /ensurepip is not available|No module named '?(venv|ensurepip)/i,
    hint: 'This Python comes without its venv module. Install it (Debian and Ubuntu: apt install python3-venv).',
  },
  {
    pattern: /No space left on device|Disk quota exceeded/i,
    hint: 'Make room, or set XDG_CACHE_HOME to a folder on another disk.',
  },
  {
    pattern:
      /name resolution|NewConnectionError|Connection refused|ConnectTimeout|ReadTimeout|ProxyError|SSLError|Network is unreachable|No matching distribution|Could not find a version/i,
    hint:
      'The package index could not be reached, which is needed once. Connect to the network, or name a mirror with PIP_INDEX_URL ' +
      'or a folder of wheels with PIP_NO_INDEX=1 and PIP_FIND_LINKS, or set SVC_PYTHON to an interpreter that has jinja2 and pendulum.',
  },
];

export function explainFailure(step: string, run: PythonRun): PythonEnvironmentError {
  const output = `${run.output}\n${run.errors}`.trim();
  const quoted = output.split('\n').slice(-QUOTED_LINES).join('\n  ');
  const cause = CAUSES.find(({ pattern }) => pattern.test(output));
  const how = run.missing ?? (run.code === null ? 'it was ended by a signal' : `exit code ${run.code}`);
  return new PythonEnvironmentError(
    `${step} failed: ${how}${quoted ? `\n  ${quoted}` : ''}`,
    cause?.hint ?? 'Or set SVC_PYTHON to an interpreter that has jinja2 and pendulum.',
  );
}
