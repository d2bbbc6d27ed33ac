import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createLanes } from './lanes.ts';

const request = (headers: Record<string, string>, address = '10.0.0.1'): IncomingMessage =>
  ({ headers, socket: { remoteAddress: address } }) as unknown as IncomingMessage;

describe('by whom a request counts', () => {
  const lanes = createLanes({ isTrusted: () => false });
  lanes.remember('good', 'u1');

  it('is its user, when its token was good before, in a header or a cookie', () => {
    expect(lanes.of(request({ authorization: 'Bearer good' }))).toBe('user u1');
    expect(lanes.of(request({ cookie: 'a=b; _token=good; c=d' }))).toBe('user u1');
  });

  it('is its address otherwise: inventing tokens makes nobody many', () => {
    const invented = Array.from({ length: 100 }, (_, n) => lanes.of(request({ authorization: `Bearer made-up-${n}` })));
    expect(new Set([...invented, lanes.of(request({}))])).toEqual(new Set(['address 10.0.0.1']));
    expect(lanes.of(request({}, '10.0.0.2'))).toBe('address 10.0.0.2');
  });

  it('is not the user of a cookie when a header names another token', () => {
    expect(lanes.of(request({ authorization: 'Bearer other', cookie: '_token=good' }))).toBe('address 10.0.0.1');
  });
});
