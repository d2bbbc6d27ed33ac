/** Sends pages and files of the web UI and the editor with cache headers for browsers. */
import { createReadStream } from 'node:fs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENCODED_EXTENSIONS } from '@svc/web/bundle.ts';
import type { BundleFile } from '@svc/web/bundle.ts';
import type { Page } from '@svc/web/html.ts';

const YEAR_SECONDS = 31_536_000;

/** Browsers revalidate a page at each load. An upgrade shows at once, and an unchanged page costs a 304. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply {
  reply.header('cache-control', 'no-cache').header('etag', page.etag);
  if (request.headers['if-none-match'] === page.etag) return reply.code(304).send();
  return reply.type(page.contentType).send(page.body);
}

export function sendFile(request: FastifyRequest, reply: FastifyReply, file: BundleFile): FastifyReply {
  reply
    .header('etag', file.etag)
    .header('vary', 'accept-encoding')
    .header('cache-control', file.isImmutable ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache');
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const coding = file.encodings.find((candidate) => accepted.includes(candidate));
  // The file was compressed at set-up. The compression plugin skips an answer that already has an encoding.
  if (coding) reply.header('content-encoding', coding);
  const path = coding ? `${file.path}${ENCODED_EXTENSIONS[coding]}` : file.path;
  return reply.type(file.contentType).send(createReadStream(path));
}
