import { describe, expect, it } from 'vitest';
import { hashPassword, passwordMatches } from './passwords.ts';

describe('a stored password', () => {
  it('is argon2id with a salt of its own: equal passwords do not look equal', async () => {
    const [one, two] = await Promise.all([hashPassword('the same one'), hashPassword('the same one')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
    expect(one).not.toContain('the same one');
  });

  it('matches itself and nothing that is nearly itself', async () => {
    const hash = await hashPassword('Correct horse');
    expect(await passwordMatches(hash, 'Correct horse')).toBe(true);
    for (const other of ['correct horse', 'Correct horse ', 'Correct hors', ''])
      expect(await passwordMatches(hash, other)).toBe(false);
  });

  it('that does not exist matches nothing, not even what its stand-in was made from', async () => {
    expect(await passwordMatches(null, '')).toBe(false);
    expect(await passwordMatches(null, 'null')).toBe(false);
  });
});
