import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openTaskSockets } from './task-sockets.ts';
import type { TaskSockets } from './task-sockets.ts';

let sockets: TaskSockets;
beforeEach(async () => {
  sockets = await openTaskSockets();
});
afterEach(() => sockets.close());

/** Says it, and resolves with whether the connection was kept when something after it was heard. */
function introduce(line: object): Promise<'kept' | 'closed'> {
  return new Promise((resolve) => {
    const socket = connect(sockets.path);
    socket.once('close', () => resolve('closed')).on('error', () => {});
    socket.once('data', () => {
      resolve('kept');
      socket.destroy();
    });
    socket.write(`${JSON.stringify(line)}\n`);
  });
}

it('a process that knows the name of another attempt is not served as that one', async () => {
  const heard: string[] = [];
  const listener = (name: string) => ({
    hello: (connection: { send(line: string): void }) => {
      heard.push(`hello of ${name}`);
      connection.send('job');
    },
    output: (_: string, chunk: Buffer) => void heard.push(`${name} said ${chunk.toString()}`),
    outputEnded: () => {},
  });
  const own = sockets.expect('own', listener('own'));
  const others = sockets.expect('other', listener('other'));
  expect(own).not.toBe(others);
  for (const key of [undefined, '', own, `${others} `, 'x']) {
    expect(await introduce({ type: 'hello', attempt: 'other', key, pid: 1 })).toBe('closed');
    expect(await introduce({ type: 'stream', attempt: 'other', key, name: 'stdout' })).toBe('closed');
  }
  expect(heard).toEqual([]);
  expect(await introduce({ type: 'hello', attempt: 'other', key: others, pid: 1 })).toBe('kept');
  expect(await introduce({ type: 'hello', attempt: 'other', key: others, pid: 2 })).toBe('closed');
  sockets.forget('own');
  expect(await introduce({ type: 'hello', attempt: 'own', key: own, pid: 1 })).toBe('closed');
  expect(heard).toEqual(['hello of other']);
});
