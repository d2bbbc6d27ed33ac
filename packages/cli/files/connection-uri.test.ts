import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseConnectionUri, writeConnectionUri } from './connection-uri.ts';

describe('a connection URI', () => {
  it('gives every part, percent-decoded', () => {
    expect(
      parseConnectionUri('postgresql://app%40x:p%2Fw%3A@db.example.com:5432/sales%20db?sslmode=require&a=b+c'),
    ).toEqual({
      conn_type: 'postgres',
      login: 'app@x',
      password: 'p/w:',
      host: 'db.example.com',
      port: 5432,
      schema: 'sales db',
      extra: '{"sslmode":"require","a":"b c"}',
    });
  });

  it.each([
    ['aws://', { conn_type: 'aws', host: '', extra: '' }],
    ['google-cloud-platform://?project=x', { conn_type: 'google_cloud_platform', extra: '{"project":"x"}' }],
    [
      'http://user@https://example.com:443/',
      { conn_type: 'http', login: 'user', host: 'https://example.com', port: 443 },
    ],
    ['http://https%3A%2F%2Fexample.com', { conn_type: 'http', host: 'https://example.com', port: null }],
    ['redis://:secret@[::1]:6379/0', { login: '', password: 'secret', host: '::1', port: 6379, schema: '0' }],
    ['x://?__extra__=%7B%22a%22%3A%5B1%5D%7D', { extra: '{"a":[1]}' }],
    ['mysql://u@h/a/b', { schema: 'a/b' }],
  ])('%s', (uri, expected) => {
    expect(parseConnectionUri(uri)).toMatchObject(expected);
  });

  it('without a password says nothing about the password, and with an empty one clears it', () => {
    expect(parseConnectionUri('postgres://u@h')).not.toHaveProperty('password');
    expect(parseConnectionUri('postgres://u:@h')).toHaveProperty('password', '');
  });

  it.each([
    'hunter2',
    '',
    'postgres:/hunter2@h',
    'postgres://u:hunter2/@h/db',
    'postgres://u:hunter2@h:port',
    'postgres://u:hunter2%zz@h',
  ])('that is none is refused without repeating it, since it may hold a password: %s', (uri) => {
    expect(() => parseConnectionUri(uri)).toThrow(/^not a connection URI/);
    expect(() => parseConnectionUri(uri)).not.toThrow('hunter2');
  });

  it('written from any connection reads back as the same', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 }).map((value) => value.toWellFormed());
    const extra = fc.oneof(
      fc.constant(''),
      fc.json().map((value) => (value === '""' ? '' : value)),
      text,
      fc.dictionary(text, text).map((value) => (Object.keys(value).length === 0 ? '{}' : JSON.stringify(value))),
    );
    fc.assert(
      fc.property(
        fc.record({
          conn_type: fc.stringMatching(/^[a-z][a-z0-9_]{0,10}$/).filter((type) => type !== 'postgresql'),
          host: text,
          login: text,
          schema: text,
          port: fc.option(fc.integer({ min: 0, max: 65_535 })),
          extra,
        }),
        (connection) => {
          const uri = writeConnectionUri(connection) ?? '';
          const { extra: read, ...rest } = parseConnectionUri(uri);
          const { extra: written, ...others } = connection;
          expect(rest).toEqual(others);
          expect(normalised(read)).toEqual(normalised(written));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('does not exist for a type that a scheme cannot spell', () => {
    const connection = { conn_type: 'My Type', host: null, login: null, schema: null, port: null, extra: null };
    expect(writeConnectionUri(connection)).toBeUndefined();
  });
});

/** The query form of an extra may space its JSON differently. */
function normalised(extra: string): unknown {
  try {
    return JSON.parse(extra);
  } catch {
    return extra;
  }
}
