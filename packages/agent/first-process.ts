/**
 * Python and Node take about as long to start, so for one attempt they start in parallel. Python starts before anything
 * else of the agent is loaded. In an image it starts even before the agent's own program: deploy/agent-bundle/start.cjs
 * includes this file, so its imports must stay small. This is done only when the interpreter is known in advance, as in
 * an image.
 */
import { TASK_USER_VARIABLE } from '@svc/proto/task-user.ts';
import { spawnServer } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';
import { pythonProcessEnvironment } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The place where start.cjs leaves the process. */
const STARTED = Symbol.for('svc-agent: Python, started before the agent was loaded');
const place = globalThis as { [STARTED]?: ServerProcess | undefined };

/** Call `takeFirstProcess` in the same turn, so that no event of the process is missed. */
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
