/** The process of a Python server (python/svc_runtime/run_server), as it is spawned; fork-server.ts talks to it. */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { FORK_SERVER_VARIABLE, WORKER_VARIABLE } from '@svc/proto/marked-processes.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { asUser } from './settings.ts';

export type ServerProcess = {
  readonly python: string;
  readonly child: ChildProcessWithoutNullStreams;
  /** What it and everything it starts has in FORK_SERVER_VARIABLE. */
  readonly marker: string;
};

export type ServerProcessInput = {
  python: string;
  env: Readonly<Record<string, string | undefined>>;
  /** As whom it runs, and so whatever it forks; without one, as ourselves. */
  user?: TaskUser | undefined;
  /** It makes nothing ready for others. */
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
