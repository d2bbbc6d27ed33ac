import { hash, verify } from '@node-rs/argon2';

export const MIN_PASSWORD_LENGTH = 8;
/** argon2 reads the whole password. Without a limit, one request could make it read megabytes. */
export const MAX_PASSWORD_LENGTH = 1_024;

// OWASP's first recommendation for argon2id (the library's default variant): 19 MiB, two passes, one lane.
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The hash of a random password. Verifying it for an unknown user takes as long as for a known one. */
let decoy: Promise<string> | undefined;

export const hashPassword = (password: string): Promise<string> => hash(password, OPTIONS);

export async function passwordMatches(storedHash: string | null, password: string): Promise<boolean> {
  decoy ??= hashPassword(crypto.randomUUID());
  const matches = await verify(storedHash ?? (await decoy), password);
  return storedHash !== null && matches;
}
