/**
 * The unix socket to which task processes connect. Each opens a control connection and introduces itself. Its server
 * opens a connection for each of its standard streams that is written to. The server reports the end of a process only
 * after the agent has closed these connections, which happens at their end.
 *
 * The folder of the socket is closed to other users, except for the user that runs tasks, which may connect but change
 * nothing. Tasks run as the same user and may know each other's names. A key therefore decides to which attempt a
 * connection belongs; only the process of that attempt and its server know the key.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { createLineReader } from './json-lines.ts';

export type TaskConnection = {
  /** Called for each line after the first. */
  onLine(listener: (line: string) => void): void;
  readonly closed: Promise<void>;
  send(line: string): void;
  /** Back-pressure: the task waits while the agent reads nothing from it. */
  pause(): void;
  resume(): void;
  close(): void;
};

export type StreamName = 'stdout' | 'stderr';

export type TaskListener = {
  hello(connection: TaskConnection, from: { pid: number }): void;
  output(name: StreamName, chunk: Buffer): void;
  outputEnded(name: StreamName): void;
};

export type TaskSockets = {
  readonly path: string;
  /** Passes connections that name this attempt and have the returned key to the listener, until it is removed. */
  expect(attemptId: string, listener: TaskListener): string;
  forget(attemptId: string): void;
  /** Expects a process that has this key and no attempt yet. */
  expectSpare(key: string, hello: TaskListener['hello']): void;
  forgetSpare(key: string): void;
  close(): void;
};

const FIRST_LINE_MS = 10_000;
const KEY_BYTES = 16;

export async function openTaskSockets(user?: TaskUser): Promise<TaskSockets> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-agent-'));
  const path = join(folder, 'tasks.sock');
  const expected = new Map<string, { listener: TaskListener; key: string; hasSaidHello: boolean }>();
  const spares = new Map<string, TaskListener['hello']>();

  function accept(socket: Socket): void {
    const late = setTimeout(() => socket.destroy(), FIRST_LINE_MS);
    socket.on('error', () => {}); // the `close` event follows
    socket.once('close', () => clearTimeout(late));
    let first: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      first = first.length === 0 ? chunk : Buffer.concat([first, chunk]);
      const end = first.indexOf(10);
      if (end === -1 && first.length < 4_096) return;
      clearTimeout(late);
      socket.off('data', onData);
      if (!introduce(socket, first.subarray(0, Math.max(end, 0)).toString('utf8'), first.subarray(end + 1))) {
        socket.destroy();
      }
    };
    socket.on('data', onData);
  }

  /** Returns false when the connection is not expected. An attempt has one process, so a second one is refused. */
  function introduce(socket: Socket, line: string, rest: Buffer): boolean {
    const { type, attempt = '', key = '', pid = 0, name } = parse(line);
    if (type === 'hello' && attempt === '') {
      const hello = spares.get(key);
      spares.delete(key);
      hello?.(connectionOf(socket, rest), { pid });
      return hello !== undefined;
    }
    const entry = expected.get(attempt);
    if (!entry || entry.key !== key) return false;
    if (type === 'hello' && !entry.hasSaidHello) {
      entry.hasSaidHello = true;
      entry.listener.hello(connectionOf(socket, rest), { pid });
      return true;
    }
    if (type !== 'stream' || (name !== 'stdout' && name !== 'stderr')) return false;
    if (rest.length > 0) entry.listener.output(name, rest);
    socket.on('data', (chunk: Buffer) => entry.listener.output(name, chunk));
    socket.once('close', () => entry.listener.outputEnded(name));
    return true;
  }

  const server = createServer(accept);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  if (user) {
    for (const [file, mode] of [
      [path, 0o660],
      [folder, 0o710],
    ] as const) {
      chownSync(file, process.getuid?.() ?? 0, user.gid);
      chmodSync(file, mode);
    }
  }
  return {
    path,
    expect(attemptId, listener) {
      const key = randomBytes(KEY_BYTES).toString('base64url');
      expected.set(attemptId, { listener, key, hasSaidHello: false });
      return key;
    },
    forget: (attemptId) => void expected.delete(attemptId),
    expectSpare: (key, hello) => void spares.set(key, hello),
    forgetSpare: (key) => void spares.delete(key),
    close() {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Introduction = { type?: string; attempt?: string; key?: string; pid?: number; name?: string };

function parse(line: string): Introduction {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === 'object' && value !== null ? (value as Introduction) : {};
  } catch {
    return {};
  }
}

function connectionOf(socket: Socket, rest: Buffer): TaskConnection {
  return {
    onLine(listener) {
      const reader = createLineReader({ onLine: listener, onTooLong: () => socket.destroy() });
      if (rest.length > 0) reader.push(rest);
      socket.on('data', (chunk: Buffer) => reader.push(chunk));
    },
    closed: new Promise((resolve) => {
      socket.once('close', () => resolve());
    }),
    send: (line) => void socket.write(`${line}\n`),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => void socket.destroy(),
  };
}
