/**
 * Runs `git` on repositories that nobody vouches for. It reads no configuration of the machine or of a user, runs no
 * hooks, asks nobody, speaks only the protocols that the address of the bundle needs, and has limits on memory and on
 * the size of a file. Credentials are in its environment and not in its arguments.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync, chmodSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import type { BundleLimits, GitCredentials } from '@svc/proto/bundle-job.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';

/** The message is for people. It has no credentials. */
export class SourceError extends Error {}

export type Git = {
  /** Returns the standard output. Rejects with a SourceError. */
  run(
    args: readonly string[],
    options?: { input?: string; network?: true; env?: Record<string, string> },
  ): Promise<string>;
  [Symbol.dispose](): void;
};

const KEPT_OUTPUT = 64 * 1024 * 1024;
const KEPT_ERRORS = 8_000;
const BLOCK_BYTES = 512;
const KIB = 1_024;
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.symlinks=true',
  // Hard links change the time of a file's state, and not its content.
  'core.trustctime=false',
  'core.bigFileThreshold=1m',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'credential.helper=',
  'http.followRedirects=initial',
  'pack.threads=1',
  'advice.detachedHead=false',
];
/** What git needs of the machine: where programs are, and how the network is reached. */
const INHERITED =
  /^(PATH|LANG|TZ|SSL_CERT_FILE|SSL_CERT_DIR|GIT_SSL_CAINFO|CURL_CA_BUNDLE|(https?|all|no)_proxy|(HTTPS?|ALL|NO)_PROXY)$/;
/** `ulimit` of the shell sets limits that git and the programs it starts inherit. */
const LIMITED = 'umask 027; ulimit -f "$1"; ulimit -v "$2"; shift 2; exec "$@"';

/** The program that git asks for a user name and a password. Git tells it which of them as its argument. */
const ASKPASS =
  '#!/bin/sh\ncase "$1" in [Uu]sername*) printf "%s" "$SVC_GIT_USERNAME";; *) printf "%s" "$SVC_GIT_PASSWORD";; esac\n';

export function createGit(input: {
  repository: string;
  /** A folder for the time of one sync. A deploy key is in it, so the control plane removes what a killed sync has left. */
  home: string;
  url: string;
  credentials: GitCredentials | null;
  /** Keeps the keys of hosts between syncs. */
  knownHosts: string;
  user: TaskUser | null;
  limits: BundleLimits;
  env: Readonly<Record<string, string | undefined>>;
  onChild: (kill: () => void) => () => void;
}): Git {
  const { repository, url, credentials, user, limits } = input;
  const { home } = input;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
  const own = (path: string, mode: number): string => {
    chmodSync(path, mode);
    if (user) chownSync(path, user.uid, user.gid);
    return path;
  };
  own(home, 0o700);
  const write = (name: string, text: string, mode: number): string => {
    const path = join(home, name);
    writeFileSync(path, text, { mode });
    return own(path, mode);
  };
  const base = {
    ...Object.fromEntries(Object.entries(input.env).filter(([name]) => INHERITED.test(name))),
    HOME: home,
    LC_ALL: 'C',
    GIT_DIR: repository,
    GIT_CONFIG_NOSYSTEM: '1',
    // An operator has allowed the path, so the owner of the repository there does not matter.
    GIT_CONFIG_GLOBAL: protocolOf(url) === 'file' ? write('settings', '[safe]\n\tdirectory = *\n', 0o600) : '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    SSH_ASKPASS: '/bin/false',
    // No protocol at all, unless a command is meant to reach the source.
    GIT_ALLOW_PROTOCOL: 'none',
  };
  const network = (): Record<string, string> => ({
    GIT_ALLOW_PROTOCOL: protocolOf(url),
    ...(credentials?.password && {
      GIT_ASKPASS: write('askpass', ASKPASS, 0o700),
      SVC_GIT_USERNAME: credentials.username || 'git',
      SVC_GIT_PASSWORD: credentials.password,
    }),
    GIT_SSH_COMMAND: sshCommand({
      key: credentials?.privateKey ? write('key', `${credentials.privateKey.trim()}\n`, 0o600) : undefined,
      hosts: credentials?.knownHosts
        ? { file: write('known_hosts', `${credentials.knownHosts.trim()}\n`, 0o600), check: 'yes' }
        : { file: input.knownHosts, check: 'accept-new' },
    }),
  });

  return {
    run: (args, options = {}) =>
      new Promise((resolve, reject) => {
        const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
        const sizes = [limits.totalBytes / BLOCK_BYTES, limits.memoryBytes / KIB].map((size) =>
          String(Math.ceil(size)),
        );
        const child = spawn('/bin/sh', ['-c', LIMITED, 'sh', ...sizes, 'git', ...settings, ...args], {
          env: { ...base, ...(options.network && network()), ...options.env },
          cwd: home,
          stdio: ['pipe', 'pipe', 'pipe'],
          detached: true,
          ...(user && { uid: user.uid, gid: user.gid }),
        });
        const forget = input.onChild(() => killGroup(child.pid));
        let output = '';
        let errors = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          output += text;
          if (output.length > KEPT_OUTPUT) killGroup(child.pid);
        });
        child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-KEPT_ERRORS)));
        child.stdin.on('error', () => {});
        child.stdin.end(options.input ?? '');
        child.once('error', (error) => reject(new SourceError(`git could not be started: ${error.message}`)));
        child.once('close', (code, signal) => {
          forget();
          if (code === 0) return resolve(output);
          reject(new SourceError(failureOf({ args, code, signal, errors, secrets: secretsOf(credentials) })));
        });
      }),
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}

const secretsOf = (credentials: GitCredentials | null): string[] =>
  [credentials?.password, credentials?.privateKey].filter((text): text is string => Boolean(text));

/** `ssh` for `user@host:path`, `file` for a path. */
export function protocolOf(url: string): 'https' | 'ssh' | 'file' {
  if (/^https:\/\//i.test(url)) return 'https';
  return url.startsWith('/') || /^file:\/\//i.test(url) ? 'file' : 'ssh';
}

const sshCommand = ({ key, hosts }: { key: string | undefined; hosts: { file: string; check: string } }): string =>
  [
    'ssh -F /dev/null -o BatchMode=yes -o IdentitiesOnly=yes -o IdentityAgent=none -o ConnectTimeout=20',
    `-o StrictHostKeyChecking=${hosts.check} -o UserKnownHostsFile='${hosts.file}' -o GlobalKnownHostsFile=/dev/null`,
    key === undefined ? '-o PubkeyAuthentication=no' : `-i '${key}'`,
  ].join(' ');

function failureOf(input: {
  args: readonly string[];
  code: number | null;
  signal: string | null;
  errors: string;
  secrets: readonly string[];
}): string {
  const { args, code, signal, errors, secrets } = input;
  const lines = errors.split('\n').filter((line) => /^(fatal|error|remote|ssh|Host|Permission|.*denied)/i.test(line));
  const said = (lines.length > 0 ? lines : errors.trim().split('\n').slice(-3)).join('; ').trim();
  const text = secrets.reduce((kept, secret) => kept.replaceAll(secret, '***'), said);
  const ended = signal === null ? `exit code ${code}` : `signal ${signal}`;
  return `git ${args[0]} failed (${ended})${text === '' ? '' : `: ${text}`}`;
}

export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has ended already
  }
}
