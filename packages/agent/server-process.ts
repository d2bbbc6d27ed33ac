/** Spawns the process of a Python server (python/svc_runtime/run_server). fork-server.ts communicates with it. */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { FORK_SERVER_VARIABLE, WORKER_VARIABLE } from '@svc/proto/marked-processes.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { asUser } from './settings.ts';

export type ServerProcess = {
  readonly python: string;
  readonly child: ChildProcessWithoutNullStreams;
  /** The value of FORK_SERVER_VARIABLE in it and in everything that it starts. */
  readonly marker: string;
};

export type ServerProcessInput = {
  python: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The user that runs it and everything that it forks. Without one it is the user of the agent. */
  user?: TaskUser | undefined;
  /** True when it will run only one attempt, so that it prepares nothing for others. */
  isForOne?: boolean | undefined;
};

let started = 0;

export function spawnServer({ python, env, user, isForOne }: ServerProcessInput): ServerProcess {
  const marker = `${process.pid}.${(started += 1)}`;
  const marked: ServerProcessInput['env'] = { ...env, [FORK_SERVER_VARIABLE]: marker };
  // The mark is in the arguments as well, because only root can read the environment of a closed process.
  const marks = [FORK_SERVER_VARIABLE, WORKER_VARIABLE].flatMap((name) =>
    marked[name] === undefined ? [] : ['--mark', `${name}=${marked[name]}`],
  );
  const child = spawn(python, ['-m', 'svc_runtime.run_server', ...(isForOne ? ['--one-attempt'] : []), ...marks], {
    env: marked,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...asUser(user),
  });
  return { python, child, marker };
}
