import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { linkToNextPage } from './next-page.ts';

function linkOf(url: string, page: { limit: number; offset: number; total: number }): string | undefined {
  const sent = new Map<string, string>();
  const reply = { header: (name: string, value: string) => sent.set(name, value) };
  linkToNextPage({ url } as FastifyRequest, reply as unknown as FastifyReply, page);
  return sent.get('link');
}

it('a list of which more is left leads to the rest, with everything else that was asked', () => {
  const page = { limit: 10, offset: 20, total: 31 };
  expect(linkOf('/api/v2/x?state=a&state=b%26&offset=20', page)).toBe(
    '<?state=a&state=b%26&offset=30&limit=10>; rel="next"',
  );
  expect(linkOf('/api/v2/x', { ...page, total: 30 })).toBeUndefined();
  expect(linkOf('/api/v2/x', { ...page, offset: 500 })).toBeUndefined();
});
