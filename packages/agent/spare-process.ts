/**
 * The process that a Python server has forked ahead of its attempts: it has said hello, by a key that its server told us, and
 * waits for the job of whichever attempt comes next.
 *
 *   announced by the server ──▶ expected ──hello──▶ ready ──▶ taken, or dropped
 */
import type { TaskConnection, TaskSockets } from './task-sockets.ts';

export type SpareProcess = { readonly key: string; readonly connection: TaskConnection; readonly secrets: string };

export type SpareProcesses = {
  /** The server makes one, in place of any before. One of an earlier generation it is about to kill, so it must not be taken. */
  expect(key: string, generation: number): void;
  /** Undefined when there is none yet. */
  take(): SpareProcess | undefined;
  /** It is of no use any more. Answers with the generation of those that are. */
  drop(): number;
};

export function createSpareProcesses(sockets: TaskSockets): SpareProcesses {
  let expected: string | undefined;
  let ready: SpareProcess | undefined;
  let current = 0;

  function forget(): void {
    if (expected !== undefined) sockets.forgetSpare(expected);
    expected = ready = undefined;
  }

  function clear(): void {
    ready?.connection.close();
    forget();
  }

  return {
    expect(key, generation) {
      if (generation !== current) return;
      clear();
      expected = key;
      sockets.expectSpare(key, (connection, { secrets }) => {
        ready = { key, connection, secrets };
        // Killed by somebody, unless it was taken meanwhile.
        void connection.closed.then(() => ready?.key === key && forget());
      });
    },
    take() {
      const taken = ready;
      if (taken) forget();
      return taken;
    },
    drop() {
      clear();
      current += 1;
      return current;
    },
  };
}
