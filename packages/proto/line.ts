/**
 * The line between a control plane and the agent that it has started itself: a pair of sockets that only the two have, with the
 * same calls, messages and credentials as the service of agent.proto. HTTP/2 is for those who have to be reached over a
 * network: a message and its answer take 1.5 ms of two processes that were asleep, on this line 0.4 (`npm run bench -- floor`).
 *
 *   frame     length of the rest (4 bytes), what it is (1), number of the call (4), then
 *   call        method (1), length of the credential (2), credential, message
 *   answer      status as gRPC has them (1), message; or what is wrong, in words
 *   order       message: one more for a call that is a stream of them
 *   cancel      nothing: no more of them are wanted
 *
 * It ends with either of the two processes. Then the agent calls as all others do.
 */
import type { Duplex } from 'node:stream';
import { MAX_MESSAGE_BYTES } from './agent-service.ts';

/** By their numbers on the line. */
export const LINE_METHODS = ['Work', 'Start', 'Heartbeat', 'AppendLog', 'Finish', 'Call', 'GetVersion'] as const;
export type LineMethod = (typeof LINE_METHODS)[number];

/** The variable that tells an agent which of its descriptors is the line. */
export const LINE_VARIABLE = 'SVC_AGENT_LINE';

export type LineCall = { kind: 'call'; id: number; method: LineMethod; token: string; message: Buffer };
export type LineAnswer = { kind: 'answer'; id: number; code: number; message: Uint8Array };
export type LineOrder = { kind: 'order'; id: number; message: Uint8Array };
export type LineCancel = { kind: 'cancel'; id: number };
export type LineFrame = LineCall | LineAnswer | LineOrder | LineCancel;

export type Line = {
  send(frame: LineFrame): void;
  /** No more from us; what was sent still arrives. */
  end(): void;
};

const KINDS = ['call', 'answer', 'order', 'cancel'] as const;
const NOTHING = new Uint8Array();
const LENGTH_BYTES = 4;
const HEAD_BYTES = LENGTH_BYTES + 1 + 4;
const MAX_FRAME_BYTES = MAX_MESSAGE_BYTES + 64 * 1024;

/** `on.end` is called once, when nothing more can be sent or heard. */
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
      return over(); // whoever speaks so is not the other end of this line
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

/** The frames that are whole with this chunk. Throws at what is no frame. */
export function createFrameReader(): (chunk: Buffer) => LineFrame[] {
  let waiting: Buffer[] = [];
  let size = 0;
  let wanted = LENGTH_BYTES;
  return (chunk) => {
    waiting.push(chunk);
    size += chunk.length;
    const frames: LineFrame[] = [];
    if (size < wanted) return frames; // a long message comes in many pieces, which are put together once
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
