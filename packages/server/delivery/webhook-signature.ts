/**
 * Signatures of webhooks, by the headers that each sender uses. Pure.
 *
 *   GitHub, Gitea        X-Hub-Signature-256: sha256=<HMAC of the body, in hex>
 *   Bitbucket            X-Hub-Signature: sha256=<HMAC of the body, in hex>
 *   GitLab               X-Gitlab-Token: <the secret>
 *   any other program    webhook-id, webhook-timestamp, webhook-signature: v1,<HMAC of "id.timestamp.body", in base64>
 *                        (Standard Webhooks, which GitLab signs with, too)
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export type SignedDelivery = { headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer };

/** Older deliveries of a sender that signs the time are refused, and so are those from the future. */
const TOLERANCE_SECONDS = 300;
const WHSEC = 'whsec_';

/** Returns an id of what was signed, which a repeated delivery has again. Undefined: the signature is wrong or missing. */
export function verifyDelivery(
  { headers, body }: SignedDelivery,
  secret: string,
  nowSeconds = Date.now() / 1_000,
): string | undefined {
  const header = (name: string): string => {
    const value = headers[name];
    return typeof value === 'string' ? value : '';
  };
  const standard = header('webhook-signature');
  if (standard !== '') {
    const [id, at] = [header('webhook-id'), header('webhook-timestamp')];
    const isRecent = /^\d{1,12}$/.test(at) && Math.abs(nowSeconds - Number(at)) <= TOLERANCE_SECONDS;
    if (id === '' || !isRecent) return undefined;
    const key = keyOf(secret);
    // Anybody could sign with the empty key that `whsec_` without a value leads to.
    if (key.length === 0) return undefined;
    const expected = hmac(key, [`${id}.${at}.`, body]).toString('base64');
    const given = standard.split(' ').map((part) => part.replace(/^v1,/, ''));
    return given.some((one) => isSame(one, expected)) ? idOf(['standard', id]) : undefined;
  }
  const signed = header('x-hub-signature-256') || header('x-hub-signature');
  if (signed !== '') {
    const expected = `sha256=${hmac(Buffer.from(secret), [body]).toString('hex')}`;
    return isSame(signed, expected) ? idOf(['hub', expected]) : undefined;
  }
  const token = header('x-gitlab-token');
  if (token === '' || !isSame(token, secret)) return undefined;
  // The token signs nothing, so a delivery is known by its id and its body.
  return idOf(['gitlab', header('x-gitlab-event-uuid'), createHash('sha256').update(body).digest('hex')]);
}

const keyOf = (secret: string): Buffer =>
  secret.startsWith(WHSEC) ? Buffer.from(secret.slice(WHSEC.length), 'base64') : Buffer.from(secret);

function hmac(key: Buffer, parts: readonly (string | Buffer)[]): Buffer {
  const made = createHmac('sha256', key);
  for (const part of parts) made.update(part);
  return made.digest();
}

/** Takes the same time wherever they differ. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(digestOf(a), digestOf(b));
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const idOf = (parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
