/** What the agent reads from its environment. */
import { existsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { credentialsIn } from '@svc/spec/sensitive-names.ts';

export type AgentSettings = {
  /** A worker's credential for `work`, an attempt's for `run`; empty when it is to be had for `tokenFile`. */
  token: string;
  /** A token of the pod we are in, to be exchanged for the attempt's credential; empty when that was given. */
  tokenFile: string;
  /** Each `host:port`, in the order in which they are tried. */
  servers: readonly string[];
  /** PEM file of the authority that signed the control plane's certificate; empty: plaintext. */
  tlsCa: string;
  /** Of a worker that people have started. */
  join?: JoinSettings;
  /** Marks the processes of a worker that the control plane has started on its own machine; empty for others. */
  workerId: string;
};

/** Of a worker that people have started, by its arguments. */
export type JoinSettings = {
  /** Each `host:port` of a process that serves the agent RPC, in the order in which they are tried. */
  servers: readonly string[];
  tokenFile: string;
  /** PEM file of the authority that signed the control plane's certificate; empty: plaintext, on this machine only. */
  caFile: string;
  queues: readonly string[];
  slots: number;
  /** Empty: the host's. */
  name: string;
};

/** For people: what is missing and who sets it. */
export class SettingsError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(env: Environment): AgentSettings {
  const required = (name: string, meaning: string): string => {
    const value = env[name];
    if (value) return value;
    throw new SettingsError(`${name} is not set: it is ${meaning}, and set by the control plane that starts the agent`);
  };
  const tlsCa = env['SVC_AGENT_TLS_CA'] ?? '';
  if (tlsCa !== '' && !existsSync(tlsCa)) {
    throw new SettingsError(`SVC_AGENT_TLS_CA is ${tlsCa}, which does not exist: name a PEM file, or unset it`);
  }
  const tokenFile = env['SVC_AGENT_TOKEN_FILE'] ?? '';
  if (tokenFile !== '' && !existsSync(tokenFile)) {
    throw new SettingsError(`SVC_AGENT_TOKEN_FILE is ${tokenFile}, which does not exist: it is mounted by the cluster`);
  }
  return {
    token: tokenFile === '' ? required('SVC_AGENT_TOKEN', 'the credential') : '',
    tokenFile,
    servers: [required('SVC_AGENT_CONTROL_PLANE_ADDR', 'the address of the control plane, host:port')],
    tlsCa,
    workerId: env['SVC_WORKER'] ?? '',
  };
}

/** What a worker that people have started is told by its arguments. */
export const joinedSettings = (join: JoinSettings): AgentSettings => ({
  token: '',
  tokenFile: '',
  servers: join.servers,
  tlsCa: join.caFile,
  join,
  workerId: '',
});

/** What a task must not see: the control plane's settings, and the agent's own credential above all. */
const PRIVATE = /^(SVC_|PG|DATABASE_URL$)/;
/** Of those, what is meant for tasks. */
const FOR_TASKS = new Set([
  'SVC_STAGING_DIR',
  'SVC_HTTP_USER_AGENT',
  'SVC_SECRETS_BACKEND',
  'SVC_SECRETS_BACKEND_KWARGS',
]);

/** Arguments of the operator's secrets backend, as they came; and the credentials among them. */
export function secretArguments(env: Environment): string[] {
  const text = env['SVC_SECRETS_BACKEND_KWARGS'] ?? '';
  return text === '' ? [] : [text, ...credentialsIn(JSON.parse(text))];
}

const UNWANTED = new Set(['PYTHONDONTWRITEBYTECODE', 'PYTHONHOME', 'PYTHONPYCACHEPREFIX', 'PYTHONSTARTUP']);

/** What belongs to whoever started the control plane and is of no use to another user. */
const PERSONAL = /^(HOME|USER|LOGNAME|MAIL|OLDPWD|PWD|SHELL|SUDO_.*|XDG_.*)$/;

/** `user`: who will have it, when that is not ourselves. */
export function taskEnvironment(env: Environment, user?: TaskUser): Record<string, string | undefined> {
  const given = Object.entries(env).filter(
    ([name]) => (!PRIVATE.test(name) || FOR_TASKS.has(name)) && !UNWANTED.has(name),
  );
  if (!user) return Object.fromEntries(given);
  const own = given.filter(([name, value]) => !PERSONAL.test(name) && (name !== 'TMPDIR' || isForEverybody(value)));
  return { ...Object.fromEntries(own), HOME: homeOf(user), USER: user.name, LOGNAME: user.name };
}

const PYTHON_FOLDER = join(import.meta.dirname, '..', '..', 'python');

/** Of the process that has the DAG file loaded. */
export const pythonProcessEnvironment = (env: Environment, user?: TaskUser): Record<string, string | undefined> => ({
  ...taskEnvironment(env, user),
  PYTHONPATH: PYTHON_FOLDER,
  PYTHONUNBUFFERED: '1',
});

/** For `spawn`, which drops the groups of ours as well. A working directory that is not for that user is left for its home. */
export function asUser(user: TaskUser | undefined): { uid?: number; gid?: number; cwd?: string } {
  if (!user) return {};
  const { uid, gid } = user;
  const canStay = ((statSync('.', { throwIfNoEntry: false })?.mode ?? 0) & 0o005) === 0o005;
  return { uid, gid, ...(!canStay && { cwd: homeOf(user) }) };
}

/** Of some accounts (`nobody`) it does not exist. */
function homeOf({ uid, home }: TaskUser): string {
  const found = statSync(home, { throwIfNoEntry: false });
  return found?.isDirectory() && found.uid === uid ? home : tmpdir();
}

const isForEverybody = (folder = ''): boolean =>
  ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o003) === 0o003;
