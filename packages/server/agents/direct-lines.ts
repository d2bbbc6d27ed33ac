/** The control plane's end of the lines to agents that it has started itself (proto/line.ts). */
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
  /** Answers what was asked, and nothing more. */
  close(): Promise<void>;
};

type Definition = { requestDeserialize(bytes: Buffer): object; responseSerialize(reply: object): Buffer };
type Respond = (error: RpcAnswer | null, reply?: object) => void;
/** As much of the library's own as handlers look at. */
type Call = EventEmitter & { metadata: Metadata; request: object };

/** How long calls in flight may take to end when the server stops. */
const CLOSE_GRACE_MS = 3_000;
const STOPPING: RpcAnswer = { code: status.UNAVAILABLE, details: 'the control plane is stopping' };

export function createDirectLines(input: {
  /** Who calls, before anything of the message is read. Throws an `RpcError`. */
  admit(method: LineMethod, token: string): Promise<Metadata>;
  service: typeof Agent.service;
  handlers: AgentHandlers;
  log: AgentLog;
}): DirectLines {
  const { admit, log } = input;
  const definitions = input.service as unknown as Readonly<Record<LineMethod, Definition>>;
  const handlers = input.handlers as unknown as Readonly<Record<LineMethod, (call: Call, respond: Respond) => void>>;
  const open = new Map<Line, Set<EventEmitter>>();
  let isClosing = false;
  const underWay = new Set<LineCall>();

  async function take(line: Line, streams: Set<EventEmitter>, frame: LineCall): Promise<void> {
    const { id, method } = frame;
    const definition = definitions[method];
    const respond: Respond = (error, reply = {}) => {
      const message = error ? Buffer.from(error.details) : definition.responseSerialize(reply);
      line.send({ kind: 'answer', id, code: error ? error.code : status.OK, message });
    };
    try {
      if (isClosing) return respond(STOPPING);
      const metadata = await admit(method, frame.token);
      const call: Call = Object.assign(new EventEmitter(), {
        metadata,
        request: definition.requestDeserialize(frame.message),
      });
      if (method === 'Work') serveStream(call, { line, id, streams, respond, serialize: definition.responseSerialize });
      else underWay.add(frame);
      handlers[method](call, (error, reply) => {
        underWay.delete(frame);
        respond(error, reply ?? {});
      });
    } catch (error) {
      respond(toServiceError(error, { log, method }));
    }
  }

  return {
    serve(socket) {
      const streams = new Set<EventEmitter>();
      const line = openLine(socket, {
        frame: (frame) => void (frame.kind === 'call' && take(line, streams, frame)),
        end() {
          open.delete(line);
          for (const stream of streams) stream.emit('close');
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

/** A stream of orders, as those that write to it know it. */
function serveStream(
  call: EventEmitter,
  {
    line,
    id,
    streams,
    respond,
    serialize,
  }: {
    line: Line;
    id: number;
    streams: Set<EventEmitter>;
    respond: Respond;
    serialize: (order: object) => Buffer;
  },
): void {
  streams.add(call);
  const ended = (error: RpcAnswer | null): void => {
    if (!streams.delete(call)) return;
    if (error) respond(error);
    else line.send({ kind: 'answer', id, code: status.OK, message: Buffer.alloc(0) });
    call.emit('close');
  };
  call.on('error', ended);
  Object.assign(call, {
    write: (order: Order): boolean => {
      if (streams.has(call)) line.send({ kind: 'order', id, message: serialize(order) });
      return true;
    },
    end: () => ended(null),
  });
}
