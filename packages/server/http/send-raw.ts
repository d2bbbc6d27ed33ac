import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/**
 * Sends what is written already: text that need not be parsed and printed again, or a stream. The response schema of the route
 * says what is in it, for the document; it neither types nor serialises it.
 */
export const sendRaw = (reply: FastifyReply, body: string | Readable): FastifyReply =>
  reply.serializer(String).send(body);

/** The same for JSON. */
export const sendJson = (reply: FastifyReply, text: string): FastifyReply =>
  sendRaw(reply.type('application/json; charset=utf-8'), text);
