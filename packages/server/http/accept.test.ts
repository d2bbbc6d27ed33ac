import { describe, expect, it } from 'vitest';
import { preferredType } from './accept.ts';

const OFFERED = ['text/plain', 'application/x-ndjson', 'application/json'] as const;

describe('the format of an answer', () => {
  it.each([
    [undefined, 'text/plain'],
    ['', 'text/plain'],
    ['*/*', 'text/plain'],
    ['application/json', 'application/json'],
    ['APPLICATION/JSON; charset=utf-8', 'application/json'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['application/json, text/plain, */*', 'application/json'],
    ['text/plain;q=0.5, application/json;q=0.9', 'application/json'],
    ['application/json;q=0.5,application/x-ndjson', 'application/x-ndjson'],
    ['application/json;q=0, */*', 'text/plain'],
    ['application/json;q=nonsense', 'text/plain'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/plain'],
    ['image/png', 'text/plain'],
  ])('for Accept: %s is %s', (accept, expected) => {
    expect(preferredType(accept, OFFERED)).toBe(expected);
  });
});
