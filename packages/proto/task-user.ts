/**
 * The user as whom a control plane that root has started runs author code: an account that owns nothing of the control
 * plane's, so that it can neither read its files and processes nor signal them. The control plane finds it, the agent becomes it.
 */
import { readFileSync } from 'node:fs';

export type TaskUser = { name: string; uid: number; gid: number; home: string };

/** What the agent is told, as JSON. Without it, it runs tasks as itself. */
export const TASK_USER_VARIABLE = 'SVC_AGENT_TASK_USER';

/** Whom the embedded Postgres belongs to. */
const DATABASE_USER = 'postgres';

export function findAccount(name: string, accounts = readAccounts()): TaskUser | undefined {
  const entry = accounts.split('\n').find((line) => line.startsWith(`${name}:`));
  const [, , uid, gid, , home] = entry?.split(':') ?? [];
  return uid && gid ? { name, uid: Number(uid), gid: Number(gid), home: home || '/' } : undefined;
}

/** Undefined: ourselves. Throws, in words for people, when it is nobody that tasks can run as. */
export function taskUserOf(name: string, self = process.getuid?.()): TaskUser | undefined {
  if (name === '') return undefined;
  const account = findAccount(name);
  const problem = `executor.task_user is ${JSON.stringify(name)}`;
  if (!account) throw new Error(`${problem}, and this machine has no such account: name one of /etc/passwd`);
  if (account.uid === self) return undefined;
  if (self !== 0)
    throw new Error(`${problem}, but only root can run tasks as another user: start as root, or unset it`);
  if (account.uid === 0 || name === DATABASE_USER) {
    throw new Error(`${problem}, who can read what must be kept from tasks: name another account`);
  }
  return account;
}

export function readTaskUser(text: string | undefined): TaskUser | undefined {
  return text ? (JSON.parse(text) as TaskUser) : undefined;
}

export function readAccounts(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}
