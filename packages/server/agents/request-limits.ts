/**
 * Limits the cost of a call before its content is read. A message that is too large or has too many fields is not
 * decoded. An `Undecoded` object with the error replaces it and becomes the answer.
 */
import {
  MAX_HEARTBEAT_TOKENS,
  MAX_JOIN_QUEUES,
  MAX_LOG_CHUNK_BYTES,
  MAX_LOG_TAIL_BYTES,
  MAX_TOKEN_LENGTH,
} from '@svc/proto/limits.ts';
import { Agent, MAX_MESSAGE_BYTES } from '@svc/proto/agent-service.ts';
import type { UnaryMethod } from '@svc/proto/agent-service.ts';
import { RpcError } from './rpc-errors.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Headroom for a message's other fields. */
const ROOM = 4 * KIB;

export type RpcMethod = UnaryMethod | 'Work';
export type RequestLimit = { bytes: number; fields: number };

/**
 * An agent sends larger values in parts. It decides by `xcom.inline_max_bytes`, which is at most this, and by the sum of
 * all values of one report.
 */
const MOST_INLINE_BYTES = MIB;

export const mostInlineBytes = ({ xcomMaxBytes }: { xcomMaxBytes: number }): number =>
  Math.min(xcomMaxBytes, MOST_INLINE_BYTES);

/** A request has a few fields of one value each. Heartbeat has one field per credential and per process. */
const FEW_FIELDS = 16;
/**
 * Room for requests and outputs of tasks other than XComs: variables (262,144 characters), conf, rendered fields,
 * questions.
 */
const BESIDE_VALUES = 4 * MIB;

const few = (bytes: number): RequestLimit => ({ bytes: Math.min(bytes, MAX_MESSAGE_BYTES), fields: FEW_FIELDS });

export function requestLimits(settings: { xcomMaxBytes: number }): Readonly<Record<RpcMethod, RequestLimit>> {
  const inlineBytes = mostInlineBytes(settings);
  return {
    Exchange: few(ROOM),
    Join: { bytes: MAX_JOIN_QUEUES * MAX_TOKEN_LENGTH + ROOM, fields: MAX_JOIN_QUEUES + FEW_FIELDS },
    Work: { bytes: MAX_HEARTBEAT_TOKENS * MAX_TOKEN_LENGTH + ROOM, fields: MAX_HEARTBEAT_TOKENS + FEW_FIELDS },
    Start: few(ROOM),
    GetVersion: few(ROOM),
    Heartbeat: {
      bytes: MAX_HEARTBEAT_TOKENS * MAX_TOKEN_LENGTH + ROOM,
      fields: 2 * MAX_HEARTBEAT_TOKENS,
    },
    AppendLog: few(MAX_LOG_CHUNK_BYTES + ROOM),
    // The value in JSON as part of a JSON object, or a part of a larger value in base64.
    Call: few(inlineBytes + BESIDE_VALUES),
    // A returned dict and its items as separate values, in JSON strings, where every quote takes two characters.
    Finish: few(4 * inlineBytes + BESIDE_VALUES + MAX_LOG_TAIL_BYTES),
  };
}

/** Replaces a request that was not decoded. */
export class Undecoded {
  readonly error: RpcError;

  constructor(error: RpcError) {
    this.error = error;
  }
}

/** Returns the service, which decodes no message beyond its limit. */
export function limitedService(limits: Readonly<Record<RpcMethod, RequestLimit>>): typeof Agent.service {
  const limited = Object.entries(Agent.service).map(([name, method]) => {
    const limit: RequestLimit | undefined = limits[name as RpcMethod];
    if (!limit) throw new Error(`${name} has no limit: give it one`);
    const decode = method.requestDeserialize as (bytes: Buffer) => object;
    const requestDeserialize = (bytes: Buffer): object => {
      const problem = problemWith(bytes, name, limit);
      return problem ? new Undecoded(problem) : decode(bytes);
    };
    return [name, { ...method, requestDeserialize }] as const;
  });
  return Object.fromEntries(limited) as unknown as typeof Agent.service;
}

function problemWith(bytes: Buffer, method: string, limit: RequestLimit): RpcError | undefined {
  if (bytes.length > limit.bytes) {
    return new RpcError(
      method === 'Finish' || method === 'Call' ? 'too_large' : 'over_limit',
      `${method} takes messages of at most ${limit.bytes} bytes, and this one has ${bytes.length}`,
    );
  }
  if (!hasMoreFields(bytes, limit.fields)) return undefined;
  return new RpcError(
    'invalid',
    method === 'Heartbeat'
      ? `Heartbeat takes at most ${MAX_HEARTBEAT_TOKENS} credentials in one call`
      : `${method} takes messages of at most ${limit.fields} fields`,
  );
}

/**
 * Counts fields of the wire format: a key, and a number, 4 or 8 bytes, or a length and that many bytes. The decoder
 * reports broken messages.
 */
export function hasMoreFields(bytes: Uint8Array, limit: number): boolean {
  let at = 0;
  for (let fields = 0; at < bytes.length; fields += 1) {
    if (fields === limit) return true;
    const key = readVarint(bytes, at);
    at = key.end;
    switch (key.value & 7) {
      case 0:
        at = readVarint(bytes, at).end;
        break;
      case 1:
        at += 8;
        break;
      case 2: {
        const length = readVarint(bytes, at);
        at = length.end + length.value;
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        return false;
    }
  }
  return false;
}

function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0;
  let end = start;
  for (let factor = 1; end < bytes.length; factor *= 128) {
    const byte = bytes[end] ?? 0;
    end += 1;
    value += (byte & 127) * factor;
    if (byte < 128) break;
  }
  return { value, end };
}
