import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ForkListener, ForkServer } from './fork-server.ts';
import { createSpareProcesses } from './spare-process.ts';
import type { SpareProcesses } from './spare-process.ts';
import { startTaskProcess } from './task-process.ts';
import { openTaskSockets } from './task-sockets.ts';
import type { TaskSockets } from './task-sockets.ts';

let sockets: TaskSockets;
let spares: SpareProcesses;
let orders: { attemptId: string; key: string; takes: string | undefined; listener: ForkListener }[];
const opened: Socket[] = [];

beforeEach(async () => {
  sockets = await openTaskSockets();
  spares = createSpareProcesses(sockets);
  orders = [];
});

afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
  spares.drop();
  sockets.close();
});

/** A child of the server, by what it says. */
async function child(hello: { attempt?: string; key: string }) {
  const socket = connect(sockets.path);
  opened.push(socket);
  const lines: string[] = [];
  createInterface({ input: socket }).on('line', (line) => lines.push(line));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(`${JSON.stringify({ type: 'hello', attempt: '', ...hello, pid: 7 })}\n`);
  return { socket, lines, closed };
}

async function readySpare() {
  spares.expect('its key');
  const process = await child({ key: 'its key' });
  await expect.poll(() => isReady()).toBe(true);
  return process;
}

/** By looking at what the next attempt would take, which it then does. */
let taken: ReturnType<SpareProcesses['take']>;
function isReady(): boolean {
  taken = spares.take();
  return taken !== undefined;
}

function start(attemptId: string) {
  const server = {
    fork({ key }: { key: string }, listener: ForkListener) {
      const spare = taken;
      taken = undefined;
      orders.push({ attemptId, key, takes: spare?.key, listener });
      return spare && { ...spare, ordered: Promise.resolve() };
    },
    kill: () => {},
  } as unknown as ForkServer;
  const said: string[] = [];
  const process = startTaskProcess({
    attemptId,
    server,
    sockets,
    graceMs: 100,
    onLine: (line) => said.push(line),
    onOutput: () => {},
    onOutputEnded: () => {},
  });
  return { process, said, order: orders.at(-1) };
}

describe('the process of an attempt', () => {
  it('is the spare one when that has said hello: the job goes straight to it', async () => {
    const spare = await readySpare();
    const { process, said, order } = start('a');
    expect(order?.takes).toBe('its key');
    await process.connected;
    process.send('the job');
    await expect.poll(() => spare.lines).toEqual(['the job']);
    order?.listener.forked(7, true);
    spare.socket.write('the result\n');
    await expect.poll(() => said).toEqual(['the result']);
    expect(process.pid()).toBe(7);
  });

  it('is another when the spare one had died: the job is said once more, to that one', async () => {
    const spare = await readySpare();
    const { process, said, order } = start('a');
    await process.connected;
    process.send('the job');
    spare.socket.destroy();
    order?.listener.forked(8, false);
    process.send('what came meanwhile');
    const other = await child({ attempt: 'a', key: order?.key ?? '' });
    await expect.poll(() => other.lines).toEqual(['the job', 'what came meanwhile']);
    process.send('more');
    await expect.poll(() => other.lines.at(-1)).toBe('more');
    other.socket.write('the result\n');
    await expect.poll(() => said).toEqual(['the result']);
    expect(process.pid()).toBe(8);
  });

  it('is forked for it when there is no spare one', async () => {
    const { process, order } = start('a');
    expect(order?.takes).toBeUndefined();
    const own = await child({ attempt: 'a', key: order?.key ?? '' });
    await process.connected;
    process.send('the job');
    await expect.poll(() => own.lines).toEqual(['the job']);
  });
});

describe('a spare process', () => {
  it('is taken once', async () => {
    await readySpare();
    expect(taken?.key).toBe('its key');
    expect(spares.take()).toBeUndefined();
    const second = await child({ key: 'its key' });
    await second.closed;
  });

  it('is refused without its key, and when it is wanted no more', async () => {
    spares.expect('its key');
    const guessing = await child({ key: 'a guess' });
    await guessing.closed;
    spares.drop();
    const late = await child({ key: 'its key' });
    await late.closed;
    expect(spares.take()).toBeUndefined();
  });

  it('makes way for the one that is announced after it', async () => {
    spares.expect('first');
    const first = await child({ key: 'first' });
    spares.expect('second');
    await first.closed;
    await child({ key: 'second' });
    await expect.poll(() => isReady()).toBe(true);
    expect(taken?.key).toBe('second');
  });
});
