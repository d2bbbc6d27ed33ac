import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifyDelivery } from './webhook-signature.ts';

const SECRET = 'the secret of the hook';
const NOW = 1_800_000_000;
const body = Buffer.from('{"ref":"refs/heads/main"}');
const hex = (text: Buffer = body, secret = SECRET) =>
  `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
const standard = (at: number, key: string | Buffer = SECRET, id = 'msg_1') => ({
  'webhook-id': id,
  'webhook-timestamp': String(at),
  'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64')}`,
});
const verify = (headers: Record<string, string>, secret = SECRET, text = body) =>
  verifyDelivery({ headers, body: text }, secret, NOW);

describe('the signature of a webhook', () => {
  it.each<[string, Record<string, string>]>([
    ['GitHub', { 'x-hub-signature-256': hex() }],
    ['Bitbucket', { 'x-hub-signature': hex() }],
    ['GitLab', { 'x-gitlab-token': SECRET, 'x-gitlab-event-uuid': 'a' }],
    ['any program', standard(NOW)],
  ])('of %s is accepted, and a repeated delivery has the same id', (_who, headers) => {
    expect(verify(headers)).toMatch(/^[0-9a-f]{64}$/);
    expect(verify(headers)).toBe(verify(headers));
  });

  it.each<[string, Record<string, string>]>([
    ['no header', {}],
    ['the signature of another body', { 'x-hub-signature-256': hex(Buffer.from('{}')) }],
    ['the signature of another secret', { 'x-hub-signature-256': hex(body, 'guess') }],
    ['an empty signature', { 'x-hub-signature-256': 'sha256=' }],
    ['the broken algorithm of old hooks', { 'x-hub-signature': hex().replace('sha256', 'sha1') }],
    ['another token', { 'x-gitlab-token': 'guess' }],
    ['a signature that is too old', standard(NOW - 301)],
    ['a signature from the future', standard(NOW + 301)],
    ['a signature whose time was changed', { ...standard(NOW - 400), 'webhook-timestamp': String(NOW) }],
    ['a wrong signature next to the right token', { 'x-hub-signature-256': 'sha256=00', 'x-gitlab-token': SECRET }],
  ])('is refused with %s', (_what, headers) => {
    expect(verify(headers)).toBeUndefined();
  });

  it('may be made with a secret in the form of Standard Webhooks', () => {
    const key = Buffer.from('0123456789abcdef0123456789abcdef');
    expect(verify(standard(NOW, key), `whsec_${key.toString('base64')}`)).toBeDefined();
  });

  it.each(['whsec_', 'whsec_!'])('is refused with the secret %s, whose key is empty', (secret) => {
    expect(verify(standard(NOW, ''), secret)).toBeUndefined();
  });
});
