/** The worker process of the subprocess executor: started, watched, started again when it dies. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { LINE_VARIABLE } from '@svc/proto/line.ts';
import type { AgentLog } from '../agents/collaborators.ts';

/** The first behind those that every process has. */
const LINE_DESCRIPTOR = 3;

/** Next to us: a checkout runs its own agent, whatever the PATH says. */
const OWN_AGENT = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc-agent');

/** What the control plane knows and a task must not: an agent is given its own settings only. */
const PRIVATE = /^(SVC_|PG|DATABASE_URL$)/;
const PASSED_ON = new Set(['SVC_PYTHON', 'SVC_AGENT_MAX_INTERPRETER_GROWTH_MB']);

type Environment = Readonly<Record<string, string | undefined>>;

export type AgentProcess = {
  readonly pid: number | undefined;
  /** Takes its input away: it gets no more orders, runs what it has to the end, tells us, and leaves. */
  closeInput(): void;
  /** The same, and lets this process end before it. */
  release(): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves when it has ended; says how. */
  readonly ended: Promise<string>;
};

export function startAgentProcess(input: {
  agentPath: string;
  workdir: string;
  env: Environment;
  settings: Readonly<Record<string, string>>;
  /** Given our end of a line that only we and the agent have. */
  serveLine?: ((socket: Duplex) => void) | undefined;
  log: AgentLog;
}): AgentProcess {
  const { agentPath, workdir, env, settings, serveLine, log } = input;
  const child = spawn(resolveAgent(agentPath, env['PATH'] ?? ''), ['work'], {
    env: { ...agentEnvironment(env), ...settings, ...(serveLine && { [LINE_VARIABLE]: String(LINE_DESCRIPTOR) }) },
    stdio: ['pipe', 'pipe', 'pipe', ...(serveLine ? (['pipe'] as const) : [])],
    // A session of its own: Ctrl-C in a terminal is meant for the control plane, which decides what becomes of the tasks.
    detached: true,
    ...(workdir !== '' && { cwd: workdir }),
  });
  child.stdin?.on('error', () => {}); // it is gone: told by its end
  const line = child.stdio[LINE_DESCRIPTOR];
  if (serveLine && line) serveLine(line as Duplex);
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => log.info({ agent: child.pid, line }, 'agent'));
  }
  return {
    pid: child.pid,
    closeInput: () => void child.stdin?.end(),
    release() {
      for (const stream of child.stdio) stream?.destroy();
      child.unref();
    },
    signal: (name) => void child.kill(name),
    ended: endOf(child),
  };
}

/** What an agent inherits of our environment. */
export const agentEnvironment = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !PRIVATE.test(name) || PASSED_ON.has(name)));

/** `exit`, not `close`: a process left behind may hold its pipes open. */
const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(`it could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });

/** A bare name is looked for on the PATH first, as the configuration says, and then beside this program. */
export function resolveAgent(agentPath: string, path: string): string {
  if (agentPath.includes('/')) return agentPath;
  const found = path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, agentPath))
    .find(isExecutable);
  return found ?? (isExecutable(OWN_AGENT) ? OWN_AGENT : agentPath);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
