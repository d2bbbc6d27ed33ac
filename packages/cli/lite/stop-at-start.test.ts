import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';
import { eventually } from '@svc/testing/eventually.ts';

const PATIENCE_MS = 400_000;

let directory: string;
/** A package index that takes every call and never answers. */
let index: Server;
let indexPort: number;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'svc-stop-at-start-'));
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, 'workspace'));
  writeFileSync(join(directory, 'workspace', 'dags.py'), 'from airflow.sdk import DAG\nDAG("one", schedule=None)\n');
  index = createServer();
  await new Promise<void>((listening) => index.listen(0, '127.0.0.1', listening));
  indexPort = (index.address() as AddressInfo).port;
});
afterAll(() => {
  index.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Programs of the folder: the environment that is being made. */
const processesBelow = (folder: string): string[] =>
  readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandOf(name).startsWith(folder));

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // gone meanwhile
  }
}

it(
  'a first start that waits for packages is stopped without them, and leaves nothing running',
  async () => {
    const argv = ['lite', join(directory, 'workspace'), '--port', '0', '--data-dir', join(directory, 'data')];
    const lite = spawnSvc(argv, {
      XDG_CACHE_HOME: join(directory, 'cache'), // nothing is installed there yet
      PIP_INDEX_URL: `http://127.0.0.1:${indexPort}/simple`,
      PIP_DEFAULT_TIMEOUT: '3600',
      SVC_SERVER_GRPC_ADDR: '127.0.0.1:0',
    });
    await lite.until('Schema migrated');
    lite.kill('SIGTERM');
    expect(await lite.ended).toBe(0);
    expect(lite.output()).toContain('Stopped.');
    await eventually(() => expect(processesBelow(directory)).toEqual([]));
  },
  PATIENCE_MS,
);
