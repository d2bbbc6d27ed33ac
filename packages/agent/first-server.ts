/**
 * Python and Node take about as long to start, so for one attempt they start side by side: Python before the agent has loaded
 * the modules it talks to the control plane with. Only where nothing has to be found out first, as in an image.
 */
import { TASK_USER_VARIABLE } from '@svc/proto/task-user.ts';
import { startForkServer } from './fork-server.ts';
import type { ForkServer } from './fork-server.ts';
import { pythonProcessEnvironment } from './settings.ts';

export function startFirstServer(env: Readonly<Record<string, string | undefined>>): ForkServer | undefined {
  const python = env['SVC_PYTHON'];
  const isMarked = env['SVC_WORKER'] || env[TASK_USER_VARIABLE];
  if (!python || python !== env['SVC_PYTHON_CHECKED'] || isMarked) return undefined;
  return startForkServer({ python, env: pythonProcessEnvironment(env), isForOne: true });
}
