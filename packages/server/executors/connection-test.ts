/**
 * Tests connections on this machine. Each test is an `svc-agent test-connection` process, which prints its answer and
 * ends. The control plane runs none of its code and logs none of its output.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { ConnectionTestJob, ConnectionTestResult } from '@svc/proto/connection-test.ts';
import { WORKER_VARIABLE, endMarkedProcesses } from '@svc/proto/marked-processes.ts';
import { TASK_USER_VARIABLE } from '@svc/proto/task-user.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { ManagedExecutor } from '../engine/executor.ts';
import { agentEnvironment, resolveAgent } from './agent-process.ts';
import type { TaskSettings } from './task-settings.ts';

type ConnectionTester = NonNullable<ManagedExecutor['testConnection']>;

/** Each is a Python process with a provider. */
const AT_ONCE = 2;
/** The limit for the hook. Creating its environment may take longer. */
const HOOK_MS = 30_000;
const WHOLE_MS = 120_000;

export function createConnectionTester(options: {
  agentPath: string;
  workdir: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The user that runs the hook. Without one it is the user of this process. */
  taskUser?: TaskUser | undefined;
  /** Variables that tasks also have in their environment. */
  taskSettings?: TaskSettings;
  hookMs?: number;
}): ConnectionTester {
  const { agentPath, workdir, env, taskUser, hookMs = HOOK_MS } = options;
  const settings = {
    ...options.taskSettings,
    ...(taskUser && { [TASK_USER_VARIABLE]: JSON.stringify(taskUser) }),
  };
  let running = 0;

  return async (job) => {
    if (running >= AT_ONCE) return failed('other connections are being tested right now: try again in a moment');
    running += 1;
    const mark = randomUUID();
    try {
      const child = spawn(resolveAgent(agentPath, env['PATH'] ?? ''), ['test-connection'], {
        env: { ...agentEnvironment(env), ...settings, [WORKER_VARIABLE]: mark },
        stdio: ['pipe', 'pipe', 'ignore'],
        timeout: WHOLE_MS,
        killSignal: 'SIGKILL',
        ...(workdir !== '' && { cwd: workdir }),
      });
      child.stdin.on('error', () => {}); // it is gone; its end reports it
      child.stdin.end(JSON.stringify({ ...job, timeoutMs: hookMs } satisfies ConnectionTestJob));
      const how = new Promise<string>((resolve) => {
        child.once('error', (error) => resolve(`it could not be started: ${error.message}`));
        child.once('close', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
      });
      const [answer, end] = await Promise.all([text(child.stdout).catch(() => ''), how]);
      return resultOf(answer) ?? failed(`the agent that should test it ended without an answer: ${end}`);
    } finally {
      await endMarkedProcesses(WORKER_VARIABLE, mark, taskUser); // processes that the hook has left behind
      running -= 1;
    }
  };
}

const failed = (message: string): ConnectionTestResult => ({ status: false, message });

function resultOf(answer: string): ConnectionTestResult | undefined {
  try {
    const { status, message } = JSON.parse(answer) as Partial<ConnectionTestResult>;
    return typeof status === 'boolean' && typeof message === 'string' ? { status, message } : undefined;
  } catch {
    return undefined;
  }
}
