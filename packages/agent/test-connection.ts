/** `svc-agent test-connection`: asks the hook of one connection whether it works, in the tenant's Python, and ends. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { WORKER_VARIABLE } from '@svc/proto/marked-processes.ts';
import { TASK_USER_VARIABLE, readTaskUser } from '@svc/proto/task-user.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { ConnectionTestJob, ConnectionTestResult } from '@svc/proto/connection-test.ts';
import { EnvironmentFailure, createPythonEnvironments } from './environments.ts';
import { createMasks } from './logs/masks.ts';
import { asUser, taskEnvironment } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const PYTHON_FOLDER = join(import.meta.dirname, '..', '..', 'python');
const MAX_MESSAGE = 2_000;

export async function testConnection(input: {
  stdin: Readable;
  env: Environment;
  say: (line: string) => void;
}): Promise<ConnectionTestResult> {
  const job = JSON.parse(await text(input.stdin)) as ConnectionTestJob;
  const masks = createMasks();
  masks.add(job.secrets);
  const { status, message } = await run(job, input);
  return { status, message: masks.apply(message).slice(0, MAX_MESSAGE) };
}

async function run(
  job: ConnectionTestJob,
  { env, say }: { env: Environment; say: (line: string) => void },
): Promise<ConnectionTestResult> {
  const user = readTaskUser(env[TASK_USER_VARIABLE]);
  const environments = createPythonEnvironments({ env, user, say });
  try {
    const python = await environments.get(packagesFor(job));
    return await askHook({ python, job, env, user });
  } catch (error) {
    if (error instanceof EnvironmentFailure) return { status: false, message: error.message };
    throw error;
  }
}

/** Without a known provider it takes the first environment with packages. Tasks without packages only have the base. */
export function packagesFor({ provider, environments }: Pick<ConnectionTestJob, 'provider' | 'environments'>) {
  const wanted = provider === null ? /./ : new RegExp(String.raw`^${provider}(?![\w.-])`, 'i');
  return environments.find((packages) => packages.some((name) => wanted.test(name.replaceAll('_', '-')))) ?? [];
}

type Question = { python: string; job: ConnectionTestJob; env: Environment; user: TaskUser | undefined };

function askHook({ python, job, env, user }: Question) {
  const child = spawn(python, ['-m', 'svc_runtime.test_connection'], {
    env: { ...taskEnvironment(env, user), [WORKER_VARIABLE]: env[WORKER_VARIABLE], PYTHONPATH: PYTHON_FOLDER },
    // The output of the hook is dropped, because it may contain secrets in forms that no mask matches.
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: job.timeoutMs,
    killSignal: 'SIGKILL',
    ...asUser(user),
  });
  child.stdin.on('error', () => {}); // it is gone; its end reports it
  child.stdin.end(JSON.stringify({ connection: job.connection, hook: job.hookClass, provider: job.provider }));
  const output = text(child.stdout);
  return new Promise<ConnectionTestResult>((resolve) => {
    const fail = (message: string): void => resolve({ status: false, message });
    child.once('error', (error) => fail(`Python could not be started: ${error.message}`));
    child.once('close', (code, signal) => {
      if (signal === 'SIGKILL') return fail(`no answer within ${job.timeoutMs / 1_000} seconds`);
      output
        .then(
          (line) => resolve(JSON.parse(line) as ConnectionTestResult),
          () => fail(`the test ended without an answer (${signal ?? `exit code ${code}`})`),
        )
        .catch(() => fail(`the test ended without an answer (${signal ?? `exit code ${code}`})`));
    });
  });
}
