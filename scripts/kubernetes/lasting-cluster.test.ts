import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { untilUp } from './lasting-cluster.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-lasting-'));
const log = join(folder, 'up.log');
writeFileSync(log, 'what it said last\n');
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['a signal', ['sh', '-c', 'kill -KILL $$'], 'SIGKILL'],
  ['itself', ['sh', '-c', 'exit 3'], '3'],
])('a cluster whose keeper is ended by %s is not waited for any longer', async (_how, command, end) => {
  const child = spawn(command[0] ?? '', command.slice(1), { stdio: 'ignore' });
  await expect(untilUp(child, () => false, log)).rejects.toThrow(`its keeper ended with ${end}:\nwhat it said last`);
});
