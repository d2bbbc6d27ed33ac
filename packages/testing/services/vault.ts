/**
 * HashiCorp Vault for tests, compiled once from its published Go module into .cache/ (vault/main.go says what of it): some
 * eight minutes of processor time, and a second after that. In memory, unsealed, with a key-value engine at secret/.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { CACHE } from '../paths.ts';

const SOURCES = join(import.meta.dirname, 'vault');

export type Vault = Awaited<ReturnType<typeof startVault>>;

export async function startVault() {
  const child = spawn(await vaultProgram(), ['127.0.0.1:0'], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.once('exit', endsWithThisProcess({ pids: child.pid === undefined ? [] : [child.pid] }));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const [url = '', token = ''] = line.split(' ');
  const call = async <T = unknown>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await fetch(`${url}/v1/${path}`, {
      method,
      headers: { 'x-vault-token': token },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
  await call('POST', 'sys/mounts/secret', { type: 'kv', options: { version: '2' } });
  return {
    url,
    token,
    call,
    write: (path: string, data: Record<string, unknown>) => call('POST', `secret/data/${path}`, { data }),
    async stop(): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.stdin.end();
      await gone;
    },
  };
}

/** The program, named after what it is made of, and compiled first when it is missing. */
export async function vaultProgram(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(SOURCES, name)));
  const program = join(CACHE, 'services', `vault-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(program)) return program;
  mkdirSync(join(CACHE, 'services'), { recursive: true });
  const draft = `${program}-${process.pid}`;
  const args = ['build', '-buildvcs=false', '-mod=readonly', '-trimpath', '-ldflags=-s -w', '-o', draft, '.'];
  await promisify(execFile)('go', args, { cwd: SOURCES }).catch((error: Error & { stderr?: string }) => {
    const said = error.stderr?.trim().split('\n').slice(-10).join('\n') || error.message;
    throw new Error(`Vault could not be compiled: ${said}`, { cause: error });
  });
  renameSync(draft, program);
  return program;
}
