/**
 * Tokens that are stored as a hash: those of service accounts (`svc_sa_`) and those with which workers join
 * (`svc_wt_`). A prefix is followed by 40 random letters and digits, and by 6 check characters computed from them.
 * Secret scanners and the masks of logs (packages/spec/masking) recognise the prefix. The check characters expose an
 * invented token without a query.
 */
import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { StoredToken } from '../db/identity/service-accounts.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 238 bits. */
const RANDOM_LENGTH = 40;
const CHECK_LENGTH = 6;
const SHOWN_RANDOM = 4;

function tokensThatBegin(beginning: string) {
  const form = new RegExp(`^${beginning}[0-9A-Za-z]{${RANDOM_LENGTH + CHECK_LENGTH}}$`);
  return {
    generate(): string {
      const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
      return `${beginning}${random}${checkOf(random)}`;
    },
    /** Undefined for a text that was never issued as a token. */
    hashOf(token: string): Buffer | undefined {
      if (!form.test(token)) return undefined;
      const random = token.slice(beginning.length, -CHECK_LENGTH);
      return checkOf(random) === token.slice(-CHECK_LENGTH) ? sha256(token) : undefined;
    },
    startOf: (token: string): string => token.slice(0, beginning.length + SHOWN_RANDOM),
  };
}

const SERVICE = 'svc_sa_';
const ofServices = tokensThatBegin(SERVICE);
const ofWorkers = tokensThatBegin('svc_wt_');

export const generateServiceToken = ofServices.generate;

/** True if the text has the prefix of a service token. It may still be invalid. */
export const looksLikeServiceToken = (token: string): boolean => token.startsWith(SERVICE);

/** Undefined for a text that was never issued as a token. */
export const serviceTokenHash = ofServices.hashOf;

export const storedToken = (token: string, expiresAt: Date): StoredToken => ({
  hash: sha256(token),
  start: ofServices.startOf(token),
  expiresAt,
});

export function generateWorkerToken(): { token: string; hash: Buffer; start: string } {
  const token = ofWorkers.generate();
  return { token, hash: sha256(token), start: ofWorkers.startOf(token) };
}

/** Undefined for a text that was never issued as a token. */
export const workerTokenHash = ofWorkers.hashOf;

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
