/**
 * The tokens of service accounts: `svc_sa_`, 40 random letters and digits, and 6 that follow from those. The beginning is for
 * scanners of secrets and for the masks of logs (packages/spec/masking), the end tells a made-up token from one of ours
 * without asking the database. What is stored is a hash.
 */
import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { StoredToken } from '../db/identity/service-accounts.ts';

const BEGINNING = 'svc_sa_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 238 bits. */
const RANDOM_LENGTH = 40;
const CHECK_LENGTH = 6;
const FORM = new RegExp(`^${BEGINNING}[0-9A-Za-z]{${RANDOM_LENGTH + CHECK_LENGTH}}$`);
const SHOWN_LENGTH = BEGINNING.length + 4;

export function generateServiceToken(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${BEGINNING}${random}${checkOf(random)}`;
}

/** Whether it means to be one. */
export const looksLikeServiceToken = (token: string): boolean => token.startsWith(BEGINNING);

/** Undefined for what was never issued. */
export function serviceTokenHash(token: string): Buffer | undefined {
  if (!FORM.test(token)) return undefined;
  const random = token.slice(BEGINNING.length, -CHECK_LENGTH);
  return checkOf(random) === token.slice(-CHECK_LENGTH) ? sha256(token) : undefined;
}

export const storedToken = (token: string, expiresAt: Date): StoredToken => ({
  hash: sha256(token),
  start: token.slice(0, SHOWN_LENGTH),
  expiresAt,
});

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

function checkOf(random: string): string {
  let rest = crc32(random);
  let digits = '';
  for (let n = 0; n < CHECK_LENGTH; n += 1) {
    digits = `${ALPHABET[rest % ALPHABET.length]}${digits}`;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
