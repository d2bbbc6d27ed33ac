/**
 * A bare fork server: an interpreter with everything loaded that a task's process shares (the same modules as ours), which
 * forks on a word and whose children say one and end. What a process for each attempt costs, whoever asks for it.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export type Forks = {
  /** From the order to the first word of the child. */
  once(): Promise<void>;
  /** So many, some at a time, each counted when it has ended. */
  many(count: number, atOnce: number): Promise<void>;
  close(): void;
};

export async function startForks(python: string, packages: string): Promise<Forks> {
  const child = spawn(python, ['-c', SERVER], {
    env: { ...process.env, PYTHONPATH: packages },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let onWord: () => void = nothing;
  let onEnd: () => void = nothing;
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'ready') resolve();
    else if (line === 'word') onWord();
    else onEnd();
  });
  await ready;
  const order = (): void => void child.stdin.write('fork\n');
  return {
    once() {
      const { promise, resolve: say } = Promise.withResolvers<void>();
      [onWord, onEnd] = [say, nothing];
      order();
      return promise;
    },
    many(count, atOnce) {
      const { promise, resolve: done } = Promise.withResolvers<void>();
      let [begun, ended] = [0, 0];
      onWord = nothing;
      onEnd = () => {
        ended += 1;
        if (ended === count) done();
        else if (begun < count) begin();
      };
      const begin = (): void => {
        begun += 1;
        order();
      };
      for (let first = 0; first < atOnce; first += 1) begin();
      return promise;
    },
    close: () => void child.stdin.end(),
  };
}

const nothing = (): void => {};

const SERVER = `
import gc, os, select, signal
from svc_runtime.run_server.preload import preload, WarmUp, warm_up_fork
preload("")
WarmUp().run()
gc.collect()
gc.freeze()
warm_up_fork()
wake, woken = os.pipe()
os.set_blocking(woken, False)
signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
signal.signal(signal.SIGCHLD, lambda *_: None)
os.write(1, b"ready\\n")
poll = select.poll()
poll.register(0, select.POLLIN)
poll.register(wake, select.POLLIN)
while True:
    for fd, _ in poll.poll():
        data = os.read(fd, 65536)
        if fd == 0:
            if not data:
                os._exit(0)
            for _ in range(data.count(b"\\n")):
                if os.fork() == 0:
                    os.write(1, b"word\\n")
                    os._exit(0)
        else:
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    os.write(1, b"end\\n")
            except ChildProcessError:
                pass
`;
