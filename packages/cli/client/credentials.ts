/**
 * Stored logins, one per server. A token is only sent to the server that issued it, so `--server` with another address
 * finds none.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError, EXIT, messageOf, systemCode } from '../cli-error.ts';
import type { Environment } from '../context.ts';

export type StoredLogin = { readonly token: string };

type Content = { current?: string; servers: Record<string, StoredLogin> };

export type Credentials = {
  readonly file: string;
  /** The server of the latest login. */
  current(): string | undefined;
  find(server: string): StoredLogin | undefined;
  /** Stores a login. Later commands call its server by default. */
  save(server: string, login: StoredLogin): void;
  /** Stores a renewed token. The default server stays the same. */
  renew(server: string, login: StoredLogin): void;
  /** Returns false if no login was stored. */
  forget(server: string): boolean;
};

export function openCredentials(env: Environment): Credentials {
  const base = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config');
  const file = join(base, 'svc', 'credentials.json');
  return {
    file,
    current: () => read(file).current,
    find(server) {
      const { servers } = read(file);
      return Object.hasOwn(servers, server) ? servers[server] : undefined;
    },
    save(server, login) {
      const { servers } = read(file);
      write(file, { current: server, servers: { ...servers, [server]: login } });
    },
    renew(server, login) {
      const { servers, ...rest } = read(file);
      write(file, { ...rest, servers: { ...servers, [server]: login } });
    },
    forget(server) {
      const { current, servers } = read(file);
      const { [server]: forgotten, ...others } = servers;
      if (forgotten === undefined) return false;
      write(file, { ...(current !== undefined && current !== server && { current }), servers: others });
      return true;
    },
  };
}

function read(file: string): Content {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { servers: {} };
    throw new CliError(`the stored logins in ${file} cannot be read: ${messageOf(error)}`);
  }
  try {
    const { current, servers } = JSON.parse(text) as Partial<Content>;
    const entries = Object.entries(servers ?? {}).filter(([, login]) => typeof login.token === 'string');
    return { ...(typeof current === 'string' && { current }), servers: Object.fromEntries(entries) };
  } catch {
    throw new CliError(`the stored logins in ${file} are damaged`, {
      exitCode: EXIT.usage,
      hint: 'remove that file and log in again with "svc auth login"',
    });
  }
}

/**
 * Writes a new file and renames it, so that two concurrent commands leave a complete file. Other users can never read
 * it.
 */
function write(file: string, content: Content): void {
  const draft = `${file}.${randomUUID()}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new CliError(`the login cannot be stored in ${file}: ${messageOf(error)}`);
  }
}
