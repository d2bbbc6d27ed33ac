import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadLiteConfig } from './config.ts';
import { dataDirectoryAt } from './data-directory.ts';
import type { DataDirectory } from './data-directory.ts';
import type { LiteDefaults } from './defaults.ts';
import { onOwnAddresses, ownAddresses } from './own-addresses.ts';

let path: string;
let directory: DataDirectory;

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'svc-addresses-'));
  directory = dataDirectoryAt(path);
});

afterEach(() => rmSync(path, { recursive: true, force: true }));

const configWith = (flags: Record<string, string> = {}) => loadLiteConfig({ env: {}, configFlags: flags }, {});

/** Takes the port that an address names, as another instance would; gives back how to let go of it. */
async function take(address: string): Promise<() => void> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(Number(address.split(':')[1]), '127.0.0.1', resolve);
  });
  return () => void server.close();
}

describe('the addresses lite chooses itself', () => {
  it('come back at the next start, and move when somebody else has them by then', async () => {
    const first = await ownAddresses(configWith(), directory);
    expect(first['server.grpc_addr']).toBe(`127.0.0.1:${readFileSync(directory.agentPort, 'utf8').trim()}`);
    const release = await take(String(first['server.grpc_addr']));
    const second = await ownAddresses(configWith(), directory);
    expect(second['server.grpc_addr']).not.toBe(first['server.grpc_addr']);
    release();
    expect((await ownAddresses(configWith(), directory))['server.grpc_addr']).toBe(second['server.grpc_addr']);
  });

  it('are looked for again when another instance was faster', async () => {
    const config = configWith();
    const defaults: LiteDefaults = await ownAddresses(config, directory);
    const lost = defaults['server.grpc_addr'];
    let release: (() => void) | undefined;
    const answer = await onOwnAddresses({
      config,
      directory,
      defaults,
      start: async () => {
        if (release) return defaults['server.grpc_addr'];
        release = await take(String(lost));
        throw new Error(`server.grpc_addr: cannot listen on ${String(lost)}: EADDRINUSE`);
      },
    });
    expect(answer).not.toBe(lost);
    release?.();
  });

  it('leave those alone that the user has chosen', async () => {
    const config = configWith({ 'server.grpc_addr': '127.0.0.1:4711' });
    const defaults = await ownAddresses(config, directory);
    expect(Object.keys(defaults)).toEqual(['server.metrics_addr']);
    const start = async (): Promise<never> => {
      throw new Error('server.grpc_addr: cannot listen on 127.0.0.1:4711');
    };
    await expect(onOwnAddresses({ config, directory, defaults, start })).rejects.toThrow('4711');
  });
});
