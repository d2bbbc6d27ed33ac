import { describe, expect, it, vi } from 'vitest';
import { createKeptPages } from './kept-pages.ts';

const asked = { tenantId: 'tenant', query: { limit: 100 }, stamp: '7' };
const page = (text: string) => async () => text;

describe('a page of the vault', () => {
  it('is made once, and anew when its vault has changed, whichever way the count goes', async () => {
    const pages = createKeptPages();
    const make = vi.fn(page('first'));
    expect([await pages.of(asked, make), await pages.of(asked, make)]).toEqual(['first', 'first']);
    expect(make).toHaveBeenCalledTimes(1);
    expect(await pages.of({ ...asked, stamp: '8' }, page('second'))).toBe('second');
    expect(await pages.of(asked, page('restored from a backup'))).toBe('restored from a backup');
  });

  it.each([{ tenantId: 'another' }, { query: { limit: 50 } }])('is not that of %j', async (other) => {
    const pages = createKeptPages();
    await pages.of(asked, page('mine'));
    expect(await pages.of({ ...asked, ...other }, page('theirs'))).toBe('theirs');
    expect(await pages.of(asked, page('made again'))).toBe('mine');
  });

  it('is forgotten when others were asked for since, and never kept when it is too large', async () => {
    const pages = createKeptPages(1_000);
    await pages.of(asked, page('first'));
    for (let limit = 0; limit < 20; limit += 1) await pages.of({ ...asked, query: { limit } }, page('x'.repeat(50)));
    expect(await pages.of(asked, page('again'))).toBe('again');
    await pages.of(asked, page('x'.repeat(2_000)));
    await pages.of({ ...asked, stamp: '8' }, page('x'.repeat(2_000)));
    expect(await pages.of({ ...asked, stamp: '8' }, page('small'))).toBe('small');
  });

  it('that could not be made is asked for again', async () => {
    const pages = createKeptPages();
    await expect(pages.of(asked, () => Promise.reject(new Error('no database')))).rejects.toThrow('no database');
    expect(await pages.of(asked, page('now'))).toBe('now');
  });
});
