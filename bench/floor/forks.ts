/**
 * A bare fork server: an interpreter with the modules that our task processes share. It forks on request, and its
 * children print one word and end. This measures the cost of a process per attempt.
 *
 * In the other kind, children do the minimum of a task process, without a control plane, log or database. Such a child
 * creates its own session and output pipes, connects, says hello, takes a job, calls a function and reports its result.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type Forks = {
  /** Time from the order to the first word of the child. */
  once(): Promise<void>;
  /** Runs this many children, with a limit in parallel. Each counts when it has ended. */
  many(kind: Kind, count: number, atOnce: number): Promise<void>;
  close(): Promise<void>;
};

type Kind = 'fork' | 'attempt';

const JOB = { type: 'job', kind: 'task', dag_id: 'd', task_id: 't', map_index: 1, params: {}, env: {}, masks: [] };

export async function startForks(python: string, packages: string): Promise<Forks> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const socket = join(folder, 'socket');
  const agent = createServer((connection) => {
    connection.once('data', () => connection.write(`${JSON.stringify(JOB)}\n`)).on('error', nothing);
  });
  await new Promise<void>((resolve) => agent.listen(socket, resolve));
  const child = spawn(python, ['-c', SERVER], {
    env: { ...process.env, PYTHONPATH: packages, BENCH_SOCKET: socket },
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
  const order = (kind: Kind): void => void child.stdin.write(`${kind}\n`);
  return {
    once() {
      const { promise, resolve: say } = Promise.withResolvers<void>();
      [onWord, onEnd] = [say, nothing];
      order('fork');
      return promise;
    },
    many(kind, count, atOnce) {
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
        order(kind);
      };
      for (let first = 0; first < atOnce; first += 1) begin();
      return promise;
    },
    async close() {
      child.stdin.end();
      agent.close();
      await rm(folder, { recursive: true });
    },
  };
}

const nothing = (): void => {};

const SERVER = `
import gc, json, os, select, signal, socket
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
pipes = {}

def begin(kind):
    if kind == b"fork":
        if os.fork() == 0:
            os.write(1, b"word\\n")
            os._exit(0)
        return
    reads, writes = zip(os.pipe(), os.pipe())
    pid = os.fork()
    if pid == 0:
        try:
            attempt(writes)
        finally:
            os._exit(0)
    for fd in writes:
        os.close(fd)
    pipes[pid] = reads

def attempt(writes):
    os.setsid()
    for standard, fd in enumerate(writes, 1):
        os.dup2(fd, standard)
    agent = socket.socket(socket.AF_UNIX)
    agent.connect(os.environ["BENCH_SOCKET"])
    agent.sendall(json.dumps({"type": "hello", "pid": os.getpid()}).encode() + b"\\n")
    job = json.loads(agent.recv(65536))
    body(job["map_index"])
    agent.sendall(json.dumps({"type": "result", "state": "success", "value": None}).encode() + b"\\n")

def body(n): ...

while True:
    for fd, _ in poll.poll():
        data = os.read(fd, 65536)
        if fd == 0:
            if not data:
                os._exit(0)
            for kind in data.split():
                begin(kind)
        else:
            try:
                while pid := os.waitpid(-1, os.WNOHANG)[0]:
                    for fd in pipes.pop(pid, ()):
                        os.read(fd, 65536)
                        os.close(fd)
                    os.write(1, b"end\\n")
            except ChildProcessError:
                pass
`;
