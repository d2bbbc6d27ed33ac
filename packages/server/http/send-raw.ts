import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/**
 * Sends a body that is already serialised: text that need not be parsed and printed again, or a stream. The response
 * schema of the route only documents it; it neither types nor serialises it.
 */
export const sendRaw = (reply: FastifyReply, body: string | Readable): FastifyReply =>
  reply.serializer(String).send(body);

/** Sends JSON that is already serialised. */
export const sendJson = (reply: FastifyReply, text: string): FastifyReply =>
  sendRaw(reply.type('application/json; charset=utf-8'), text);
