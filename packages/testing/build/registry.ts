/** An image registry of the tests' own (the Debian package docker-registry), over plain HTTP. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { TOOLS_PATH } from './tool-environment.ts';

export const REGISTRY_PROGRAM = 'docker-registry';

export type Registry = AsyncDisposable & {
  /** Host and port. */
  readonly address: string;
};

/** On the loopback interface. What is pushed lies in `data` of the directory; `users` are lines of an htpasswd file. */
export async function startRegistry(directory: string, users?: string): Promise<Registry> {
  mkdirSync(directory, { recursive: true });
  const config = join(directory, 'config.json');
  writeFileSync(join(directory, 'users'), users ?? '');
  writeFileSync(
    config,
    // JSON is YAML.
    JSON.stringify({
      version: '0.1',
      log: { level: 'info' },
      storage: { filesystem: { rootdirectory: join(directory, 'data') } },
      http: { addr: '127.0.0.1:0' },
      ...(users !== undefined && { auth: { htpasswd: { realm: 'test', path: join(directory, 'users') } } }),
    }),
  );
  const child = spawn(REGISTRY_PROGRAM, ['serve', config], {
    env: { PATH: TOOLS_PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const address = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`docker-registry ended with ${code}`)));
    createInterface(child.stderr).on('line', (line) => {
      const found = /listening on (127\.0\.0\.1:\d+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    address,
    async [Symbol.asyncDispose]() {
      child.removeAllListeners('exit');
      if (child.exitCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}
