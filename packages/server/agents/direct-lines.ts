/** The control plane's end of the direct connections to agents that it has started (proto/line.ts). */
import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import type { Metadata } from '@grpc/grpc-js';
import type { Agent, AgentHandlers, Order } from '@svc/proto/agent-service.ts';
import { openLine } from '@svc/proto/line.ts';
import type { Line, LineCall, LineMethod } from '@svc/proto/line.ts';
import type { AgentLog } from './collaborators.ts';
import { toServiceError } from './rpc-errors.ts';
import type { RpcAnswer } from './rpc-errors.ts';

export type DirectLines = {
  serve(socket: Duplex): void;
  /** Answers the pending calls and accepts no more. */
  close(): Promise<void>;
};

type Definition = { requestDeserialize(bytes: Buffer): object; responseSerialize(reply: object): Buffer };
/** The open streams of a connection, by the number of their call. */
type Streams = Map<number, EventEmitter>;
type Respond = (error: RpcAnswer | null, reply?: object) => void;
/** The part of the library's own call that handlers use. */
type Call = EventEmitter & { metadata?: Metadata; request?: object };

/** How long calls in flight may take to end when the server stops. */
const CLOSE_GRACE_MS = 3_000;
const STOPPING: RpcAnswer = { code: status.UNAVAILABLE, details: 'the control plane is stopping' };

export function createDirectLines(input: {
  /** Finds the caller before any of the message is read. Throws an `RpcError`. */
  admit(method: LineMethod, token: string): Promise<Metadata>;
  service: typeof Agent.service;
  handlers: AgentHandlers;
  log: AgentLog;
}): DirectLines {
  const { admit, log } = input;
  const definitions = input.service as unknown as Readonly<Record<LineMethod, Definition>>;
  const handlers = input.handlers as unknown as Readonly<Record<LineMethod, (call: Call, respond: Respond) => void>>;
  const open = new Map<Line, Streams>();
  let isClosing = false;
  const underWay = new Set<LineCall>();

  async function take(line: Line, streams: Streams, frame: LineCall): Promise<void> {
    const { id, method } = frame;
    const definition = definitions[method];
    const refuse = ({ code, details }: RpcAnswer): void =>
      line.send({ kind: 'answer', id, code, message: Buffer.from(details) });
    const respond: Respond = (error, reply = {}) => {
      if (error) return refuse(error);
      try {
        line.send({ kind: 'answer', id, code: status.OK, message: definition.responseSerialize(reply) });
      } catch (failure) {
        refuse(toServiceError(failure, { log, method }));
      }
    };
    try {
      if (isClosing) return refuse(STOPPING);
      const isStream = method === 'Work';
      const call: Call = new EventEmitter();
      if (isStream) streams.set(id, call);
      call.metadata = await admit(method, frame.token);
      if (isStream && !streams.has(id)) return; // the caller has closed the stream in the meantime
      call.request = definition.requestDeserialize(frame.message);
      if (isStream) serveStream(call, { line, id, streams, refuse, serialize: definition.responseSerialize });
      else underWay.add(frame);
      handlers[method](call, (error, reply) => {
        underWay.delete(frame);
        respond(error, reply ?? {});
      });
    } catch (error) {
      streams.delete(id);
      refuse(toServiceError(error, { log, method }));
    }
  }

  return {
    serve(socket) {
      const streams: Streams = new Map();
      const close = (id: number): void => {
        const stream = streams.get(id);
        streams.delete(id);
        stream?.emit('close');
      };
      const line = openLine(socket, {
        frame(frame) {
          if (frame.kind === 'call') void take(line, streams, frame);
          else if (frame.kind === 'cancel') close(frame.id);
        },
        end() {
          open.delete(line);
          for (const id of streams.keys()) close(id);
        },
      });
      open.set(line, streams);
    },
    async close() {
      isClosing = true;
      for (const until = Date.now() + CLOSE_GRACE_MS; underWay.size > 0 && Date.now() < until;) await sleep(10);
      for (const line of open.keys()) line.end();
    },
  };
}

/** A stream of orders, with the interface that the handlers expect. */
function serveStream(
  call: EventEmitter,
  {
    line,
    id,
    streams,
    refuse,
    serialize,
  }: {
    line: Line;
    id: number;
    streams: Streams;
    refuse: (answer: RpcAnswer) => void;
    serialize: (order: object) => Buffer;
  },
): void {
  const ended = (error: RpcAnswer | null): void => {
    if (!streams.delete(id)) return;
    if (error) refuse(error);
    else line.send({ kind: 'answer', id, code: status.OK, message: Buffer.alloc(0) });
    call.emit('close');
  };
  call.on('error', ended);
  Object.assign(call, {
    write: (order: Order): boolean => {
      if (streams.has(id)) line.send({ kind: 'order', id, message: serialize(order) });
      return true;
    },
    end: () => ended(null),
  });
}
