/**
 * Tokens that are stored as a hash: those of service accounts (`svc_sa_`) and those with which workers join (`svc_wt_`). Behind
 * the beginning are 40 random letters and digits, and 6 that follow from those. The beginning is for scanners of secrets and for
 * the masks of logs (packages/spec/masking), the end tells a made-up token from one of ours without asking the database.
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
    /** Undefined for what was never issued. */
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

/** Whether it means to be one. */
export const looksLikeServiceToken = (token: string): boolean => token.startsWith(SERVICE);

/** Undefined for what was never issued. */
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

/** Undefined for what was never issued. */
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
