/**
 * The process that a Python server has forked ahead of its attempts: it has said hello, by a key that its server told us, and
 * waits for the job of whichever attempt comes next.
 *
 *   announced by the server ──▶ expected ──hello──▶ ready ──▶ taken, or dropped
 */
import type { TaskConnection, TaskSockets } from './task-sockets.ts';

export type SpareProcess = { readonly key: string; readonly connection: TaskConnection };

export type SpareProcesses = {
  /** The server makes one, in place of any before. */
  expect(key: string): void;
  /** Undefined when there is none yet. */
  take(): SpareProcess | undefined;
  /** Its server is gone. */
  drop(): void;
};

export function createSpareProcesses(sockets: TaskSockets): SpareProcesses {
  let expected: string | undefined;
  let ready: SpareProcess | undefined;

  function forget(): void {
    if (expected !== undefined) sockets.forgetSpare(expected);
    expected = ready = undefined;
  }

  function clear(): void {
    ready?.connection.close();
    forget();
  }

  return {
    expect(key) {
      clear();
      expected = key;
      sockets.expectSpare(key, (connection) => {
        ready = { key, connection };
        // Killed by somebody, unless it was taken meanwhile.
        void connection.closed.then(() => ready?.key === key && forget());
      });
    },
    take() {
      const taken = ready;
      if (taken) forget();
      return taken;
    },
    drop: clear,
  };
}
