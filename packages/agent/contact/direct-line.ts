/** The agent's end of the direct connection to the control plane that has started it (proto/line.ts). */
import { EventEmitter } from 'node:events';
import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import { status } from '@grpc/grpc-js';
import { Agent } from '@svc/proto/agent-service.ts';
import type { ReceivedOrder, ReplyOf, RequestOf, UnaryMethod } from '@svc/proto/agent-service.ts';
import { LINE_METHODS, openLine } from '@svc/proto/line.ts';
import type { LineMethod } from '@svc/proto/line.ts';

/** The shape of the library's own errors: `code` is a status, `details` says what is wrong. */
export type LineError = { code: status; details: string };

export type OrderStream = Pick<EventEmitter, 'on'> & { cancel(): void };

export type DirectLine = {
  isOpen(): boolean;
  /** Rejects with a `LineError`. */
  call<M extends UnaryMethod & LineMethod>(
    method: M,
    request: RequestOf<M>,
    options: { token: string; deadlineMs: number; signal?: AbortSignal | undefined },
  ): Promise<ReplyOf<M>>;
  work(request: object, token: string): OrderStream;
};

/** Receives the answer, or the error in its place. */
type Pending = { answer(code: status, message: Uint8Array): void; order?(message: Uint8Array): void };

type Definition = {
  requestSerialize(request: object): Buffer;
  responseDeserialize(bytes: Uint8Array): unknown;
};
const DEFINITIONS = Agent.service as unknown as Readonly<Record<LineMethod, Definition>>;

export const isOnLine = (method: UnaryMethod): method is UnaryMethod & LineMethod =>
  (LINE_METHODS as readonly string[]).includes(method);

const GONE: LineError = { code: status.UNAVAILABLE, details: 'the control plane that started this agent has gone' };
const text = (message: Uint8Array): string => Buffer.from(message).toString('utf8');

/**
 * Returns undefined when there is no such connection: the agent was started in another way, or by a program that did
 * not pass it on.
 */
export function connectLine(descriptor: string | undefined): DirectLine | undefined {
  const fd = Number(descriptor ?? '');
  if (descriptor === undefined || !Number.isInteger(fd) || !isSocket(fd)) return undefined;
  const socket = new Socket({ fd, readable: true, writable: true });
  socket.unref(); // it must not keep alive an agent that has nothing else to wait for
  let isOpen = true;
  let lastId = 0;
  const pending = new Map<number, Pending>();
  const line = openLine(socket, {
    frame(frame) {
      if (frame.kind === 'answer') pending.get(frame.id)?.answer(frame.code, frame.message);
      else if (frame.kind === 'order') pending.get(frame.id)?.order?.(frame.message);
    },
    end() {
      isOpen = false;
      for (const { answer } of pending.values()) answer(GONE.code, Buffer.from(GONE.details));
    },
  });

  function begin(method: LineMethod, request: object, token: string, waits: Pending): number {
    lastId = (lastId + 1) % 2 ** 32;
    const message = DEFINITIONS[method].requestSerialize(request);
    pending.set(lastId, waits);
    line.send({ kind: 'call', id: lastId, method, token, message });
    return lastId;
  }

  return {
    isOpen: () => isOpen,
    call: (method, request, { token, deadlineMs, signal }) =>
      new Promise((resolve, reject) => {
        const settle = (then: () => void): void => {
          if (!pending.delete(id)) return;
          clearTimeout(late);
          signal?.removeEventListener('abort', cancel);
          then();
        };
        const fail = (code: status, details: string): void => settle(() => reject({ code, details } as LineError));
        const id = begin(method, request, token, {
          answer(code, message) {
            if (code !== status.OK) return fail(code, text(message));
            try {
              const reply = DEFINITIONS[method].responseDeserialize(message) as ReplyOf<typeof method>;
              settle(() => resolve(reply));
            } catch (error) {
              fail(status.INTERNAL, `the answer cannot be read: ${(error as Error).message}`);
            }
          },
        });
        const late = setTimeout(() => fail(status.DEADLINE_EXCEEDED, 'no answer in time'), deadlineMs);
        const cancel = (): void => fail(status.CANCELLED, 'cancelled');
        signal?.addEventListener('abort', cancel);
      }),
    work(request, token) {
      const stream = new EventEmitter();
      const close = (): void => {
        if (pending.delete(id)) stream.emit('close');
      };
      const id = begin('Work', request, token, {
        order: (message) => void stream.emit('data', DEFINITIONS.Work.responseDeserialize(message) as ReceivedOrder),
        answer(code, message) {
          if (code === status.OK) stream.emit('end');
          else stream.emit('error', { code, details: text(message) } satisfies LineError);
          close();
        },
      });
      const cancel = (): void => {
        line.send({ kind: 'cancel', id });
        close();
      };
      return Object.assign(stream, { cancel });
    },
  };
}

function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch {
    return false;
  }
}
