import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineReader } from '../json-lines.ts';
import { isMaskable } from '@svc/spec/masking/rules.ts';
import { createMasks } from './masks.ts';
import { readSettings, secretArguments, taskEnvironment } from '../settings.ts';

const masked = (secrets: readonly string[], text: string): string => {
  const masks = createMasks();
  masks.add(secrets);
  return masks.apply(text);
};

describe('secrets in what programs print', () => {
  it('are replaced in their usual spellings, the longer ones first', () => {
    expect(masked(['p@ss word'], 'x p@ss word p%40ss%20word')).toBe('x *** ***');
    expect(masked(['abcd', 'abcdefgh'], 'abcdefgh abcd')).toBe('*** ***');
    expect(masked(['say "hi"'], String.raw`{"x":"say \"hi\""}`)).toBe('{"x":"***"}');
    expect(masked(['a.c+(d'], 'a.c+(d abc+(d')).toBe('*** abc+(d');
  });

  it('that a task has fetched itself are masked from then on', () => {
    const masks = createMasks();
    masks.add(['given-at-start']);
    expect(masks.apply('given-at-start fetched-later')).toBe('*** fetched-later');
    masks.addOwn(['fetched-later']);
    masks.addOwn(['another-one']);
    expect(masks.apply('given-at-start fetched-later another-one')).toBe('*** *** ***');
  });

  it('of several lines are found in each of them', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----\n';
    expect(masked([key], 'MIIEvQIBADANBg')).toBe('***');
    expect(masked([key], '-----BEGIN KEY-----')).toBe('-----BEGIN KEY-----');
  });

  it('that are too short to be secrets leave ordinary text readable', () => {
    expect(masked(['', ' ', 'a', 'ab', '***'], 'a cab *** ab')).toBe('a cab *** ab');
  });

  it('never remain, whatever they are made of', () => {
    const secret = fc
      .string({ unit: 'grapheme', minLength: 4 })
      .filter((text) => !/[\r\n]/.test(text) && text.trim().length >= 4);
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
        fc.pre(!value.includes('*') && isMaskable(value));
        expect(masked([value], `${before}${value}${after}`)).not.toContain(value.trim());
      }),
    );
  });
});

describe('lines from a task process', () => {
  it('are the same wherever the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.integer({ min: 1, max: 9 }), (texts, size) => {
        const sent = texts.map((text) => text.replaceAll('\n', ''));
        const lines: string[] = [];
        const reader = createLineReader({
          onLine: (line) => lines.push(line),
          onTooLong: () => lines.push('too long'),
        });
        const bytes = Buffer.from(sent.map((text) => `${text}\n`).join(''));
        for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
        expect(lines).toEqual(sent);
      }),
    );
  });

  it('beyond the limit are an error, not memory', () => {
    const heard: string[] = [];
    const reader = createLineReader({
      onLine: (line) => heard.push(line),
      onTooLong: () => heard.push('!'),
      maxBytes: 10,
    });
    for (let part = 0; part < 3; part += 1) reader.push(Buffer.from('12345'));
    expect(heard).toEqual(['!']);
  });
});

describe('the environment', () => {
  it('of tasks has nothing of the control plane’s or the agent’s in it', () => {
    const env = {
      PATH: '/bin',
      SVC_AGENT_TOKEN: 't',
      SVC_SECRET_KEY: 'k',
      PGPASSWORD: 'p',
      DATABASE_URL: 'd',
      PYTHONHOME: 'x',
    };
    expect(taskEnvironment(env)).toEqual({ PATH: '/bin' });
  });

  it('of tasks has what the operator sets for them', () => {
    const given = { SVC_HTTP_USER_AGENT: 'a', SVC_SECRETS_BACKEND: 'b', SVC_SECRETS_BACKEND_KWARGS: '{}' };
    expect(taskEnvironment({ ...given, SVC_AGENT_TOKEN: 't' })).toEqual(given);
  });

  it('has arguments of the secrets backend that no log may show, and the credentials among them', () => {
    const text = JSON.stringify({
      region: 'x',
      auth: { token: 'one', keys: [{ client_secret: 'two' }] },
      passwords: ['three'],
    });
    expect(secretArguments({ SVC_SECRETS_BACKEND_KWARGS: text })).toEqual([text, 'one', 'two', 'three']);
    expect(secretArguments({})).toEqual([]);
  });

  it('that lacks something says what, and who sets it', () => {
    expect(() => readSettings({})).toThrow('SVC_AGENT_TOKEN is not set: it is the credential');
    expect(() => readSettings({ SVC_AGENT_TOKEN: 't' })).toThrow('SVC_AGENT_CONTROL_PLANE_ADDR is not set');
    const tls = { SVC_AGENT_TOKEN: 't', SVC_AGENT_CONTROL_PLANE_ADDR: 'h:1', SVC_AGENT_TLS_CA: '/nowhere' };
    expect(() => readSettings(tls)).toThrow('/nowhere, which does not exist');
  });
});
