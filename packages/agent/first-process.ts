/**
 * Python and Node take about as long to start, so for one attempt they start side by side: Python before anything else of the
 * agent is loaded, in an image even before the agent's own program (deploy/agent-bundle/start.cjs), which has it as a file of
 * its own for that: keep what it imports small. Only where nothing has to be found out first, as in an image.
 */
import { TASK_USER_VARIABLE } from '@svc/proto/task-user.ts';
import { spawnServer } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';
import { pythonProcessEnvironment } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where start.cjs leaves it for us. */
const STARTED = Symbol.for('svc-agent: Python, started before the agent was loaded');
const place = globalThis as { [STARTED]?: ServerProcess | undefined };

/** To be called in the turn in which the process was begun: what becomes of it must not go unheard. */
export function startFirstProcess(env: Environment): void {
  const python = env['SVC_PYTHON'];
  const isMarked = env['SVC_WORKER'] || env[TASK_USER_VARIABLE];
  if (!python || python !== env['SVC_PYTHON_CHECKED'] || isMarked) return;
  place[STARTED] ??= spawnServer({ python, env: pythonProcessEnvironment(env), isForOne: true });
}

export function takeFirstProcess(): ServerProcess | undefined {
  const started = place[STARTED];
  delete place[STARTED];
  return started;
}
