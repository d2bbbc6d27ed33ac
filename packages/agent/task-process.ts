/** The process of one attempt: it is forked, connects, gets its job, and ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ForkServer } from './fork-server.ts';
import type { ProcessExit } from './exit-cause.ts';
import type { StreamName, TaskConnection, TaskSockets } from './task-sockets.ts';

export type TaskProcess = {
  /** Resolves when it has opened its connection. Rejects when it ends before that. */
  readonly connected: Promise<void>;
  readonly exited: Promise<ProcessExit>;
  send(line: string): void;
  pause(): void;
  resume(): void;
  /** Sends SIGTERM, and after the grace period SIGKILL for what is left. */
  stop(): void;
  /** Sends SIGKILL at once. */
  kill(): void;
  /** Undefined until it exists. */
  pid(): number | undefined;
};

export type TaskProcessInput = {
  attemptId: string;
  server: ForkServer;
  sockets: TaskSockets;
  graceMs: number;
  onLine: (line: string) => void;
  onOutput: (name: StreamName, chunk: Buffer) => void;
  onOutputEnded: (name: StreamName) => void;
};

const SIGTERM = 15;
const SIGKILL = 9;
const LAST_OUTPUT_MS = 1_000;

export function startTaskProcess(input: TaskProcessInput): TaskProcess {
  const { attemptId, server, sockets, graceMs } = input;
  const { promise: connected, resolve: connect, reject: neverConnected } = Promise.withResolvers<void>();
  connected.catch(() => {}); // `exited` resolves as well
  const { promise: exited, resolve: exit } = Promise.withResolvers<ProcessExit>();
  let connection: TaskConnection | undefined;
  let pid: number | undefined;
  let killing: NodeJS.Timeout | undefined;
  let isOver = false;
  /** Lines that were sent to a spare process before its server has confirmed that it still existed. */
  let unconfirmed: string[] | undefined;

  function open(opened: TaskConnection): void {
    connection = opened;
    opened.onLine(input.onLine);
    connect();
  }

  const key = sockets.expect(attemptId, {
    hello(opened) {
      open(opened);
      for (const line of unconfirmed ?? []) opened.send(line);
      unconfirmed = undefined;
    },
    output: input.onOutput,
    outputEnded: input.onOutputEnded,
  });
  const taken = server.fork(
    { attemptId, key },
    {
      forked(number, isTaken) {
        pid = number;
        // A dead spare process has read nothing. The process that is forked instead connects by itself.
        if (isTaken) unconfirmed = undefined;
        else if (unconfirmed) connection = undefined;
      },
      exited(how) {
        isOver = true;
        clearTimeout(killing);
        neverConnected(new Error('the task process ended before it had connected'));
        // Its last messages may still be under way. A process that it forked may keep the connection open, though.
        void Promise.race([connection?.closed, sleep(LAST_OUTPUT_MS)]).then(() => {
          sockets.forget(attemptId);
          exit(how);
        });
      },
    },
  );

  if (taken) {
    unconfirmed = [];
    void taken.ordered.then(() => open(taken.connection));
  }

  /**
   * Asks the server, which also knows the strays of the process, and kills the group directly in case the server is
   * stuck.
   */
  function kill(): void {
    if (isOver) return;
    server.kill(attemptId, SIGKILL);
    if (pid !== undefined) killGroup(pid);
  }

  return {
    connected,
    exited,
    send(line) {
      unconfirmed?.push(line);
      connection?.send(line);
    },
    pause: () => connection?.pause(),
    resume: () => connection?.resume(),
    kill,
    pid: () => pid,
    stop() {
      if (isOver || killing) return;
      server.kill(attemptId, SIGTERM);
      killing = setTimeout(kill, graceMs);
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it is gone
  }
}
