/**
 * Set-up of the tiers with servers in the test's process: an answer of an operation whose status or content type the API
 * document does not have fails the test that got it. So the document cannot fall behind the code wherever a test goes.
 */
import { channel } from 'node:diagnostics_channel';
import type { App } from '@svc/server/http/typed-app.ts';
import { afterEach } from 'vitest';
import { undeclaredAnswer } from './undeclared-answer.ts';

/** Test files may share a process, and with it the servers that this was installed in. */
const shared = globalThis as { undeclaredAnswers?: Set<string> };

if (shared.undeclaredAnswers === undefined) {
  const found = (shared.undeclaredAnswers = new Set());
  // Fastify's own word of every application that is made, before it has any route.
  channel('fastify.initialization').subscribe((message) => {
    (message as { fastify: App }).fastify.addHook('onSend', async (request, reply) => {
      const { schema, url } = request.routeOptions;
      if (request.is404 || schema?.operationId === undefined || schema.hide) return;
      const problem = undeclaredAnswer({
        operation: `${request.method} ${url ?? ''}`,
        status: reply.statusCode,
        contentType: reply.getHeader('content-type') as string | undefined,
        declared: schema.response as object | undefined,
      });
      if (problem !== undefined) found.add(problem);
    });
  });
}

afterEach(() => {
  const found = [...(shared.undeclaredAnswers ?? [])];
  shared.undeclaredAnswers?.clear();
  if (found.length > 0) throw new Error(`not in the API document (config.refuses, response):\n  ${found.join('\n  ')}`);
});
