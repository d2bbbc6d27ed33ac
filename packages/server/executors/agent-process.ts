/** The worker process of the subprocess executor. It is started, watched, and restarted when it dies. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { LINE_VARIABLE } from '@svc/proto/line.ts';
import type { AgentLog } from '../agents/collaborators.ts';

/** The first descriptor after stdin, stdout and stderr. */
const LINE_DESCRIPTOR = 3;

/** A checkout runs its own agent, whatever the PATH says. */
const OWN_AGENT = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc-agent');

/** Variables that the control plane has and a task must not see. An agent gets only its own settings. */
const PRIVATE = /^(SVC_|PG|DATABASE_URL$)/;
const PASSED_ON = new Set(['SVC_PYTHON', 'SVC_AGENT_MAX_INTERPRETER_GROWTH_MB']);

type Environment = Readonly<Record<string, string | undefined>>;

export type AgentProcess = {
  readonly pid: number | undefined;
  /** Closes its input: it gets no more orders, finishes its attempts, reports them, and ends. */
  closeInput(): void;
  /** Does the same, and lets this process end before the agent. */
  release(): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves with a description when it has ended. */
  readonly ended: Promise<string>;
};

export function startAgentProcess(input: {
  agentPath: string;
  workdir: string;
  env: Environment;
  settings: Readonly<Record<string, string>>;
  /** Called with our end of the direct connection to the agent. */
  serveLine?: ((socket: Duplex) => void) | undefined;
  log: AgentLog;
}): AgentProcess {
  const { agentPath, workdir, env, settings, serveLine, log } = input;
  const child = spawn(resolveAgent(agentPath, env['PATH'] ?? ''), ['work'], {
    env: { ...agentEnvironment(env), ...settings, ...(serveLine && { [LINE_VARIABLE]: String(LINE_DESCRIPTOR) }) },
    stdio: ['pipe', 'pipe', 'pipe', ...(serveLine ? (['pipe'] as const) : [])],
    // It has a session of its own, because Ctrl-C in a terminal is for the control plane, which decides about the
    // tasks.
    detached: true,
    ...(workdir !== '' && { cwd: workdir }),
  });
  child.stdin?.on('error', () => {}); // it is gone; `ended` reports it
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

/** The part of our environment that an agent inherits. */
export const agentEnvironment = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !PRIVATE.test(name) || PASSED_ON.has(name)));

/** Waits for `exit` and not `close`, because a remaining child process may keep its pipes open. */
const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(`it could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });

/** Looks for a bare name on the PATH first, as the configuration says, and then next to this program. */
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
