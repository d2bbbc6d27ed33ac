import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTokenSigner } from './tokens.ts';

const ID = '7d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f01';
const sessionOf = (n: number): string => ID.slice(0, -4) + String(n).padStart(4, '0');
const claims = {
  userId: ID,
  email: 'ann@example.com',
  tenantId: ID,
  tenantName: 'default',
  roles: ['viewer'],
  sessionId: ID,
  authTime: 1_700_000_000,
};
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;

afterEach(() => void vi.useRealTimers());

describe('a token that was verified before', () => {
  it('expires all the same, at the same moment as one that is new', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const signer = createTokenSigner('a secret of at least thirty-two characters');
    const token = await signer.signUser({ ...claims, expiresAt: inSeconds(60) });
    expect(await signer.verifyUser(token)).toMatchObject({ userId: ID });
    for (const later of [58_000, 1_000, 999, 1, 1_000, 60_000]) {
      vi.setSystemTime(Date.now() + later);
      const fresh = createTokenSigner('a secret of at least thirty-two characters');
      expect(await signer.verifyUser(token)).toEqual(await fresh.verifyUser(token));
    }
    expect(await signer.verifyUser(token)).toBe('expired');
  });

  it('is not remembered by a signer with another secret, nor with a letter changed', async () => {
    const signer = createTokenSigner('a secret of at least thirty-two characters');
    const token = await signer.signUser({ ...claims, expiresAt: inSeconds(60) });
    await signer.verifyUser(token);
    expect(await createTokenSigner('another secret of thirty-two characters').verifyUser(token)).toBe('invalid');
    expect(await signer.verifyUser(`${token.slice(0, -2)}AA`)).toBe('invalid');
  });

  it('is forgotten, and verified anew, when there are too many', async () => {
    const signer = createTokenSigner('a secret of at least thirty-two characters');
    const expiresAt = inSeconds(60);
    const tokens = await Promise.all(
      Array.from({ length: 1_500 }, (_, n) => signer.signUser({ ...claims, sessionId: sessionOf(n), expiresAt })),
    );
    for (let round = 0; round < 2; round += 1) {
      const sessions = await Promise.all(tokens.map((token) => signer.verifyUser(token)));
      expect(sessions.map((session) => typeof session !== 'string' && session.sessionId)).toEqual(
        tokens.map((_, n) => sessionOf(n)),
      );
    }
  });
});
