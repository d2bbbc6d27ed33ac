import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { JITTER_ARGUMENTS, JITTER_LOG_VARIABLE, JITTER_VARIABLE } from '../node-arguments.ts';

/**
 * Sends 200 numbers over a socket, one by one, so that a long delay of the stream is certain. Prints the order in which
 * they arrive, and what its child sees.
 */
const PROGRAM = `
  import { execFileSync, spawn } from 'node:child_process';
  import { once } from 'node:events';
  import { createServer, connect } from 'node:net';
  const server = createServer((socket) => socket.pipe(socket)).listen(0);
  await once(server, 'listening');
  const socket = connect(server.address().port);
  let text = '';
  socket.setEncoding('utf8').on('data', (data) => (text += data));
  for (let number = 0; number < 200; number += 1) {
    socket.write(number + ' ');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  socket.end();
  await once(socket, 'close');
  server.close();
  const child = spawn(process.execPath, ['-e', 'console.log(globalThis.setTimeout.toString().includes("late"))']);
  const delays = (await child.stdout.toArray()).join('').trim();
  const names = execFileSync('env').toString().split('\\n').map((line) => line.split('=')[0]);
  console.log(JSON.stringify({ text, delays, names: names.filter((name) => /JITTER|NODE_OPTIONS/.test(name)) }));`;

it('random delays keep the order of a stream, reach Node processes, and are invisible in the environment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-jitter-'));
  try {
    const env = { ...process.env, [JITTER_VARIABLE]: '1', [JITTER_LOG_VARIABLE]: folder };
    const args = [...JITTER_ARGUMENTS, '--input-type=module', '-e', PROGRAM];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(JSON.parse(stdout)).toEqual({
      text: Array.from({ length: 200 }, (_, number) => `${number} `).join(''),
      delays: 'true',
      names: [],
    });
    const delays = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
    expect(delays).toContainEqual(expect.stringMatching(/ \d+ ms (sent|received) "\d+ /));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
