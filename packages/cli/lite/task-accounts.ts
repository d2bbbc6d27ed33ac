/**
 * The account that runs author code of one installation if root started it. Installations on one machine have different
 * accounts, so that their tasks can neither read nor signal each other:
 *
 *   /var/lib/svc/task-users/<account>   which data directory has the account, and its uid
 *
 *   no claim ──▶ claimed ──the data directory is gone, and so are its processes──▶ free again, its home removed
 *
 * If no account is free, a new one is created: `svc-task`, then `svc-task-2` and so on, with a uid from the machine's
 * range of system accounts (SYS_UID_MIN to SYS_UID_MAX in /etc/login.defs). Accounts are reused instead of removed,
 * because a uid with remaining files must not get another owner.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findAccount, readAccounts } from '@svc/proto/task-user.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { CliError, messageOf } from '../cli-error.ts';
import { waitForLock } from './lock.ts';

export const TASK_USER = 'svc-task';
const REGISTRY = '/var/lib/svc/task-users';
const MOST = 200;
const OWN_ACCOUNT = /^svc-task(-[1-9]\d*)?$/;

type Claim = { data: string; uid: number };

/** The accounts of the machine. Tests pass another implementation. */
export type Machine = {
  readonly registry: string;
  homeOf(account: string): string;
  accounts(): string;
  /** Uses this uid if it is free, otherwise one that the system chooses. */
  makeAccount(name: string, uid: number | undefined): void;
  /** True if a process of that user is running. */
  isBusy(uid: number): boolean;
};

/** True for accounts that lite creates. Other accounts belong to people. */
export const isOwnAccount = (name: string): boolean => OWN_ACCOUNT.test(name);

/** Returns the account of a data directory. If there is none, it takes a free account or creates one. */
export async function claimTaskAccount(dataDirectory: string, machine: Machine = THIS_MACHINE): Promise<string> {
  const data = realpathSync(dataDirectory);
  const { registry } = machine;
  mkdirSync(dirname(registry), { recursive: true, mode: 0o755 });
  mkdirSync(registry, { recursive: true, mode: 0o700 });
  const lock = await waitForLock(join(registry, 'lock'));
  try {
    const name = accountOf(data, machine) ?? freeAccount(machine);
    const uid = ensureAccount(name, machine);
    writeClaim(join(registry, name), { data, uid });
    return name;
  } finally {
    lock.release();
  }
}

function accountOf(data: string, { registry }: Machine): string | undefined {
  return readdirSync(registry).find((name) => isOwnAccount(name) && readClaim(registry, name)?.data === data);
}

function freeAccount(machine: Machine): string {
  for (let number = 1; number <= MOST; number += 1) {
    const name = number === 1 ? TASK_USER : `${TASK_USER}-${number}`;
    if (isFree(name, machine)) return name;
  }
  throw new CliError(`no account for tasks is free: ${MOST} data directories on this machine have one each`, {
    hint: `remove data directories that nobody uses (${machine.registry} names them), or name an account with --executor.task-user`,
  });
}

/** Removes what is left of a removed installation, so that the next owner of the account cannot read it. */
function isFree(name: string, machine: Machine): boolean {
  const { registry, homeOf } = machine;
  const claim = readClaim(registry, name);
  const account = findAccount(name, machine.accounts());
  if (claim !== undefined && existsSync(claim.data)) return false;
  if (!account) return true;
  // The account was made for another purpose, shares its uid, or runs tasks of an older svc without claims.
  if (problemOf(account, machine) !== undefined || machine.isBusy(account.uid)) return false;
  if (claim !== undefined) rmSync(homeOf(name), { recursive: true, force: true });
  return true;
}

function problemOf({ name, uid, gid, home }: TaskUser, machine: Machine): string | undefined {
  if (uid === 0 || gid === 0) return 'it has the rights of root';
  if (home !== machine.homeOf(name)) return `its home is ${home} and not ${machine.homeOf(name)}`;
  const same = machine
    .accounts()
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => Number(fields[2] || -1) === uid || (Number(fields[3] || -1) === gid && fields[0] !== name));
  return same.length > 1 ? `it shares its number with ${same.map(([other]) => other).join(', ')}` : undefined;
}

/** Returns the uid of the account. */
function ensureAccount(name: string, machine: Machine): number {
  const known = findAccount(name, machine.accounts());
  if (!known) machine.makeAccount(name, readClaim(machine.registry, name)?.uid);
  const account = known ?? findAccount(name, machine.accounts());
  const problem = account ? problemOf(account, machine) : 'it could not be made';
  if (!account || problem !== undefined) {
    throw new CliError(`the account "${name}", as whom this installation runs tasks, cannot be used: ${problem}`, {
      hint: `remove ${join(machine.registry, name)} to get another one, or name an account with --executor.task-user`,
    });
  }
  return account.uid;
}

function readClaim(registry: string, name: string): Claim | undefined {
  try {
    const { data, uid } = JSON.parse(readFileSync(join(registry, name), 'utf8')) as Partial<Claim>;
    return typeof data === 'string' && typeof uid === 'number' ? { data, uid } : undefined;
  } catch {
    return undefined; // no claim, or one that a person has edited
  }
}

function writeClaim(file: string, claim: Claim): void {
  writeFileSync(`${file}.new`, JSON.stringify(claim), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Compilations run as other users of the same group, which may read but not write. */
export function makeHome({ home, uid, gid }: TaskUser): void {
  mkdirSync(home, { recursive: true, mode: 0o750 });
  chownSync(home, uid, gid);
  chmodSync(home, 0o750);
}

const homeOf = (name: string): string => `/var/lib/${name}`;

const THIS_MACHINE: Machine = {
  registry: REGISTRY,
  homeOf,
  accounts: readAccounts,
  isBusy: (uid) =>
    readdirSync('/proc').some(
      (name) => /^\d+$/.test(name) && statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid === uid,
    ),
  makeAccount(name, uid) {
    const options = ['--system', '--user-group', '--no-create-home', '--home-dir', homeOf(name)];
    const shell = ['--shell', '/usr/sbin/nologin'];
    const make = (...more: string[]): unknown =>
      execFileSync('useradd', [...options, ...shell, ...more, name], { stdio: ['ignore', 'ignore', 'pipe'] });
    try {
      const isTaken = uid === undefined || readAccounts().includes(`:${uid}:`);
      make(...(isTaken ? [] : ['--uid', String(uid)]));
    } catch (error) {
      if (findAccount(name)) return; // another process created it first
      throw new CliError(
        `the user "${name}", as whom tasks run when root starts lite, could not be made: ${messageOf(error)}`,
        {
          cause: error,
          hint: 'start svc as an ordinary user, name an account with --executor.task-user, or let tasks read all that root can: --executor.task-user root',
        },
      );
    }
  },
};
