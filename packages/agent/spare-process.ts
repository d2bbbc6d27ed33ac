/**
 * The process that a Python server has forked in advance. It has connected with a key that its server reported, and
 * waits for the job of the next attempt.
 *
 *   announced by the server ──▶ expected ──hello──▶ ready ──▶ taken, or dropped
 */
import type { TaskConnection, TaskSockets } from './task-sockets.ts';

export type SpareProcess = { readonly key: string; readonly connection: TaskConnection };

export type SpareProcesses = {
  /** Called when the server forks one, which replaces any earlier one. */
  expect(key: string): void;
  /** Returns undefined when there is none yet. */
  take(): SpareProcess | undefined;
  /** Called when its server is gone. */
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
        // It was killed, unless an attempt has taken it.
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
