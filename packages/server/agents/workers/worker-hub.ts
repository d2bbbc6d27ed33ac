/**
 * The streams on which workers receive their orders. An executor announces a worker before it starts it. It adopts a
 * worker that another process has started, or this one before a restart, by the scope in its credential. An unknown
 * worker gets no stream. When a worker opens a second stream, it has lost the first.
 */
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { Order } from '@svc/proto/agent-service.ts';
import type { NextInstance } from '../../engine/shared/attempts.ts';
import type { AgentCredentials, VerifiedAttempt, VerifiedWorker, WorkerScope } from '../credentials.ts';
import { RpcError } from '../rpc-errors.ts';

export type WorkerInfo = {
  hostname: string;
  pid: number;
  version: string;
  /** The attempts that it runs, by the credentials it has. */
  running: readonly VerifiedAttempt[];
};

export type WorkerListener = {
  connected(info: WorkerInfo): void;
  disconnected(): void;
  /** The host that its attempts show. Default: its own. */
  shownAs?: string;
  /** True when it takes another attempt after the end of one. Default: true. */
  takesNew?: () => boolean;
  /** True when it has many more active attempts of this run than processors. Default: false. */
  isCrowded?: (run: number) => boolean;
  /** True when it may run this instance. Default: true. */
  mayRun?: (next: NextInstance) => boolean;
};

/**
 * Announces the worker, or returns false for a worker of another executor. Throws an `RpcError` for one that must not
 * have a stream.
 */
export type AdoptWorker = (worker: { workerId: string; scope: WorkerScope }, info: WorkerInfo) => Promise<boolean>;

/** A connected worker that reports the end of an attempt. */
export type TokenHolder = Pick<WorkerListener, 'takesNew' | 'isCrowded' | 'mayRun'> & { hostname: string };

export type AnnouncedWorker = {
  isConnected(): boolean;
  /** Returns false when there is no stream. An order on a stream that breaks afterwards may also be lost. */
  send(order: Order): boolean;
  /** Ends its stream and refuses another one. */
  dismiss(): void;
};

export type WorkerHub = {
  announce(workerId: string, listener: WorkerListener): AnnouncedWorker;
  /** Sets the function for workers that were not announced and whose credential has a scope. */
  adoptWith(adopt: AdoptWorker): void;
  attach(worker: VerifiedWorker, info: WorkerInfo, stream: WorkStream): Promise<void>;
  /** Returns the connected worker whose newest credential this is. */
  holderOf(token: string): TokenHolder | undefined;
  /** Ends all streams. */
  close(): void;
};

type WorkStream = Pick<ServerWritableStream<unknown, Order>, 'write' | 'end' | 'on'>;

type Worker = { listener: WorkerListener; stream: WorkStream | undefined; info?: WorkerInfo };

/** Far below the lifetime of a worker's credential. */
const RENEW_MS = 6 * 60 * 60 * 1_000;

export function createWorkerHub(credentials: AgentCredentials): WorkerHub {
  const workers = new Map<string, Worker>();
  const adopters: AdoptWorker[] = [];
  /** The connected workers; the key is the newest credential of each. */
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

  async function known({ workerId, scope }: VerifiedWorker, info: WorkerInfo): Promise<Worker> {
    const announced = workers.get(workerId);
    if (announced) return announced;
    for (const adopt of scope ? adopters : []) {
      if (scope && (await adopt({ workerId, scope }, info))) break;
    }
    const adopted = workers.get(workerId);
    if (!adopted) throw new RpcError('denied', 'this worker is not expected: nobody here has started it');
    return adopted;
  }

  return {
    adoptWith: (adopt) => void adopters.push(adopt),

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

    async attach({ workerId, scope }, info, stream) {
      const worker = await known({ workerId, scope }, info);
      const renew = async (): Promise<void> => {
        const token = await credentials.issueWorker(workerId, scope);
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
      // Also tells the agent that its stream is open, which it can only know from a message.
      await renew();
      worker.listener.connected(info);
    },

    holderOf(token) {
      const holder = holders.get(token);
      return holder?.info && { ...holder.listener, hostname: holder.listener.shownAs ?? holder.info.hostname };
    },

    close() {
      for (const worker of workers.values()) worker.stream?.end();
    },
  };
}
