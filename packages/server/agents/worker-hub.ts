/**
 * The streams over which workers get their orders. An executor announces a worker before it starts it; a worker nobody
 * announced gets no stream, whatever its credential says. A worker that opens a second stream has lost the first one.
 */
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { Order } from '@svc/proto/agent-service.ts';
import type { AgentCredentials } from './credentials.ts';
import { RpcError } from './rpc-errors.ts';

export type WorkerInfo = { hostname: string; pid: number; version: string };

export type WorkerListener = {
  connected(info: WorkerInfo): void;
  disconnected(): void;
};

export type AnnouncedWorker = {
  isConnected(): boolean;
  /** False when there is no stream; what was sent on a stream that then breaks may be lost as well. */
  send(order: Order): boolean;
  /** Ends its stream; it gets no other. */
  dismiss(): void;
};

export type WorkerHub = {
  announce(workerId: string, listener: WorkerListener): AnnouncedWorker;
  attach(workerId: string, info: WorkerInfo, stream: WorkStream): Promise<void>;
  /** The connected worker whose newest credential this is. */
  holderOf(token: string): WorkerInfo | undefined;
  /** Ends all streams. */
  close(): void;
};

type WorkStream = Pick<ServerWritableStream<unknown, Order>, 'write' | 'end' | 'on'>;

type Worker = { listener: WorkerListener; stream: WorkStream | undefined; info?: WorkerInfo };

/** Far below the lifetime of a worker's credential. */
const RENEW_MS = 6 * 60 * 60 * 1_000;

export function createWorkerHub(credentials: AgentCredentials): WorkerHub {
  const workers = new Map<string, Worker>();
  /** By the newest credential of each that is connected. */
  const holders = new Map<string, Worker>();

  function forget(worker: Worker): void {
    for (const [token, holder] of holders) if (holder === worker) holders.delete(token);
  }

  function detach(worker: Worker, stream: WorkStream): void {
    if (worker.stream !== stream) return;
    worker.stream = undefined;
    forget(worker);
    worker.listener.disconnected();
  }

  return {
    announce(workerId, listener) {
      const worker: Worker = { listener, stream: undefined };
      workers.set(workerId, worker);
      return {
        isConnected: () => worker.stream !== undefined,
        send(order) {
          worker.stream?.write(order);
          return worker.stream !== undefined;
        },
        dismiss() {
          workers.delete(workerId);
          forget(worker);
          worker.stream?.end();
          worker.stream = undefined;
        },
      };
    },

    async attach(workerId, info, stream) {
      const worker = workers.get(workerId);
      if (!worker) throw new RpcError('denied', 'this worker is not expected: nobody here has started it');
      const renew = async (): Promise<void> => {
        const token = await credentials.issueWorker(workerId);
        if (worker.stream !== stream) return;
        forget(worker);
        holders.set(token, worker);
        stream.write({ credential: { token } });
      };
      const timer = setInterval(() => void renew(), RENEW_MS);
      timer.unref();
      const gone = (): void => {
        clearInterval(timer);
        detach(worker, stream);
      };
      for (const event of ['cancelled', 'close', 'error', 'finish']) stream.on(event, gone);
      const before = worker.stream;
      worker.stream = stream;
      worker.info = info;
      before?.end();
      // Also tells the agent that its stream stands: without a message it cannot know.
      await renew();
      worker.listener.connected(info);
    },

    holderOf: (token) => holders.get(token)?.info,

    close() {
      for (const worker of workers.values()) worker.stream?.end();
    },
  };
}
