/**
 * The direct connection between a control plane and the agent that it has started: a pair of sockets that only these
 * two have. It carries the same calls, messages and credentials as the service of agent.proto. Agents on other hosts
 * use HTTP/2, where a message and its answer take 1.5 ms instead of 0.4 (`npm run bench -- floor`).
 *
 *   frame     length of the rest (4 bytes), kind (1), number of the call (4), then
 *   call        method (1), length of the credential (2), credential, message
 *   answer      status as in gRPC (1), message or error text
 *   order       message: one more for a call that is a stream of them
 *   cancel      nothing: the caller wants no more of them
 *
 * It closes when one of the two processes ends. The agent then calls like all others.
 */
import type { Duplex } from 'node:stream';
import { MAX_MESSAGE_BYTES } from './agent-service.ts';

/** The methods by their numbers in a frame. */
export const LINE_METHODS = ['Work', 'Start', 'Heartbeat', 'AppendLog', 'Finish', 'Call', 'GetVersion'] as const;
export type LineMethod = (typeof LINE_METHODS)[number];

/** The variable that tells an agent which of its descriptors is the direct connection. */
export const LINE_VARIABLE = 'SVC_AGENT_LINE';

export type LineCall = { kind: 'call'; id: number; method: LineMethod; token: string; message: Buffer };
export type LineAnswer = { kind: 'answer'; id: number; code: number; message: Uint8Array };
export type LineOrder = { kind: 'order'; id: number; message: Uint8Array };
export type LineCancel = { kind: 'cancel'; id: number };
export type LineFrame = LineCall | LineAnswer | LineOrder | LineCancel;

export type Line = {
  send(frame: LineFrame): void;
  /** Sends no more frames. Earlier ones still arrive. */
  end(): void;
};

const KINDS = ['call', 'answer', 'order', 'cancel'] as const;
const NOTHING = new Uint8Array();
const LENGTH_BYTES = 4;
const HEAD_BYTES = LENGTH_BYTES + 1 + 4;
const MAX_FRAME_BYTES = MAX_MESSAGE_BYTES + 64 * 1024;

/** `on.end` is called once, when nothing more can be sent or received. */
export function openLine(socket: Duplex, on: { frame(frame: LineFrame): void; end(): void }): Line {
  let isOver = false;
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    socket.destroy();
    on.end();
  };
  const read = createFrameReader();
  socket.on('data', (chunk: Buffer) => {
    let frames: LineFrame[];
    try {
      frames = read(chunk);
    } catch {
      return over(); // the peer does not use this protocol
    }
    frames.forEach(on.frame);
  });
  for (const event of ['end', 'close', 'error']) socket.on(event, over);
  return {
    send(frame) {
      if (!isOver) socket.write(encodeFrame(frame));
    },
    end: () => void (isOver || socket.end()),
  };
}

export function encodeFrame(frame: LineFrame): Buffer {
  const message = frame.kind === 'cancel' ? NOTHING : frame.message;
  const token = frame.kind === 'call' ? Buffer.byteLength(frame.token) : 0;
  const more = { call: 3 + token, answer: 1, order: 0, cancel: 0 }[frame.kind];
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + more + message.length);
  bytes.writeUInt32BE(bytes.length - LENGTH_BYTES, 0);
  bytes.writeUInt8(KINDS.indexOf(frame.kind), LENGTH_BYTES);
  bytes.writeUInt32BE(frame.id, LENGTH_BYTES + 1);
  if (frame.kind === 'answer') bytes.writeUInt8(frame.code, HEAD_BYTES);
  if (frame.kind === 'call') {
    bytes.writeUInt8(LINE_METHODS.indexOf(frame.method), HEAD_BYTES);
    bytes.writeUInt16BE(token, HEAD_BYTES + 1);
    bytes.write(frame.token, HEAD_BYTES + 3, 'utf8');
  }
  bytes.set(message, HEAD_BYTES + more);
  return bytes;
}

/** Returns the frames that this chunk completes. Throws when the bytes are not a frame. */
export function createFrameReader(): (chunk: Buffer) => LineFrame[] {
  let waiting: Buffer[] = [];
  let size = 0;
  let wanted = LENGTH_BYTES;
  return (chunk) => {
    waiting.push(chunk);
    size += chunk.length;
    const frames: LineFrame[] = [];
    if (size < wanted) return frames; // a long message comes in many pieces, which are joined once
    let bytes = waiting.length === 1 ? chunk : Buffer.concat(waiting);
    for (;;) {
      wanted = LENGTH_BYTES;
      if (bytes.length < LENGTH_BYTES) break;
      const length = bytes.readUInt32BE(0);
      if (length > MAX_FRAME_BYTES) throw new RangeError(`a frame of ${length} bytes`);
      wanted = LENGTH_BYTES + length;
      if (bytes.length < wanted) break;
      frames.push(decodeFrame(bytes.subarray(0, wanted)));
      bytes = bytes.subarray(wanted);
    }
    waiting = bytes.length > 0 ? [bytes] : [];
    size = bytes.length;
    return frames;
  };
}

function decodeFrame(bytes: Buffer): LineFrame {
  const kind = KINDS[bytes.readUInt8(LENGTH_BYTES)];
  const id = bytes.readUInt32BE(LENGTH_BYTES + 1);
  if (kind === 'cancel') return { kind, id };
  if (kind === 'order') return { kind, id, message: bytes.subarray(HEAD_BYTES) };
  if (kind === 'answer') {
    return { kind, id, code: bytes.readUInt8(HEAD_BYTES), message: bytes.subarray(HEAD_BYTES + 1) };
  }
  const method = LINE_METHODS[bytes.readUInt8(HEAD_BYTES)];
  if (kind === undefined || method === undefined) throw new RangeError('a frame of another kind');
  const from = HEAD_BYTES + 3;
  const to = from + bytes.readUInt16BE(HEAD_BYTES + 1);
  if (to > bytes.length) throw new RangeError('a credential longer than its frame');
  return { kind, id, method, token: bytes.toString('utf8', from, to), message: bytes.subarray(to) };
}
