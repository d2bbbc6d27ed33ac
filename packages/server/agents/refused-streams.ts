/**
 * Stops reading calls that were refused before their message was read. The library answers such a call, but then reads
 * and drops all remaining bytes: a client without a credential could send forever and use processor time. Instead the
 * stream is reset, so the client stops at its flow-control window. A connection that makes only refused calls is
 * closed.
 */
import { constants } from 'node:http2';
import type { Http2Session, ServerHttp2Stream } from 'node:http2';

/** A worker whose credentials were revoked makes a few refused calls. Its next connection starts from zero. */
const MAX_REFUSED_IN_A_ROW = 50;

export type RefusedStreams = {
  /** Call it after the status of the refusal was sent. */
  refused(call: object): void;
  accepted(call: object): void;
};

export function createRefusedStreams(): RefusedStreams {
  const refusals = new WeakMap<Http2Session, number>();
  return {
    refused(call) {
      const stream = streamOf(call);
      const session = stream?.session;
      // Without an error, as HTTP/2 defines it for a server that has answered and needs no more of the request.
      stream?.close(constants.NGHTTP2_NO_ERROR);
      if (!session) return;
      const count = (refusals.get(session) ?? 0) + 1;
      refusals.set(session, count);
      if (count < MAX_REFUSED_IN_A_ROW || session.destroyed) return;
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
    },
    accepted(call) {
      const session = streamOf(call)?.session;
      if (session) refusals.delete(session);
    },
  };
}

/** The library has no public way to the stream of a call. The call that an interceptor gets has it as a field. */
function streamOf(call: object): ServerHttp2Stream | undefined {
  const stream: unknown = Reflect.get(call, 'stream');
  return isStream(stream) ? stream : undefined;
}

const isStream = (value: unknown): value is ServerHttp2Stream =>
  typeof value === 'object' && value !== null && 'session' in value && 'close' in value;
