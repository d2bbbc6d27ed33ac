/**
 * The process that a Python server has forked ahead of its attempts: it has said hello, by a name and a key that we chose, and
 * waits for the job of whichever attempt comes next.
 *
 *   wanted ──named to the server──▶ expected ──hello──▶ ready ──▶ taken, or dropped ──▶ the next is wanted
 */
import type { TaskConnection, TaskSockets } from './task-sockets.ts';

export type SpareProcess = { readonly name: string; readonly connection: TaskConnection; readonly secrets: string };

export type SpareProcesses = {
  /** What the server has to be told, once, with whatever it is told next; undefined when it knows. */
  wanted(): { name: string; key: string } | undefined;
  /** Undefined when there is none yet. */
  take(): SpareProcess | undefined;
  /** It is of no use any more: another is wanted. */
  drop(): void;
  close(): void;
};

let named = 0;

export function createSpareProcesses(sockets: TaskSockets): SpareProcesses {
  let name = '';
  let key = '';
  let isNamed = false;
  let ready: SpareProcess | undefined;

  function begin(): void {
    name = `spare-${(named += 1)}`;
    [isNamed, ready] = [false, undefined];
    const own = name;
    key = sockets.expect(name, {
      hello(connection, { secrets }) {
        ready = { name: own, connection, secrets };
        // Killed by somebody, unless it was taken meanwhile.
        void connection.closed.then(() => name === own && end());
      },
      output: () => {},
      outputEnded: () => {},
    });
  }

  function end(): void {
    sockets.forget(name);
    begin();
  }

  begin();
  return {
    wanted() {
      if (isNamed) return undefined;
      isNamed = true;
      return { name, key };
    },
    take() {
      const taken = ready;
      if (taken) end();
      return taken;
    },
    drop() {
      ready?.connection.close();
      end();
    },
    close() {
      ready?.connection.close();
      sockets.forget(name);
      name = '';
    },
  };
}
