import { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { createOpenStreams } from './open-streams.ts';

const requestOf = (tenantId: string): FastifyRequest => ({ maybePrincipal: { tenantId } }) as unknown as FastifyRequest;

it('a tenant with many open answers looks as often as with a hundred, and takes nothing from another tenant', () => {
  const streams = createOpenStreams();
  const closed: (() => void)[] = [];
  const open = (tenantId: string) => {
    const raw = new EventEmitter();
    closed.push(() => raw.emit('close'));
    return streams.open(requestOf(tenantId), { raw } as unknown as FastifyReply);
  };
  const first = open('crowd');
  expect([first.every(1_000), first.least()]).toEqual([1_000, 0]);
  for (let n = 1; n < 1_000; n += 1) open('crowd');
  expect([first.every(1_000), first.least()]).toEqual([10_000, 4_000]);
  expect(() => open('crowd')).toThrow('your tenant has 1000 open answers');
  const other = open('other');
  expect([other.every(500), other.least()]).toEqual([500, 0]);
  for (const close of closed.slice(1)) close();
  expect([first.every(500), first.least()]).toEqual([500, 0]);
});
