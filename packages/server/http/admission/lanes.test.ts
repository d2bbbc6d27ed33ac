import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createLanes } from './lanes.ts';

const request = (headers: Record<string, string>, address = '10.0.0.1'): IncomingMessage =>
  ({ headers, socket: { remoteAddress: address } }) as unknown as IncomingMessage;

describe('by whom a request counts', () => {
  const lanes = createLanes({ isTrusted: () => false });
  lanes.remember('good', { tenantId: 't1', userId: 'u1' });

  it('is its user, when its token was good before, in a header or a cookie', () => {
    expect(lanes.of(request({ authorization: 'Bearer good' }))).toEqual({ tenant: 't1', user: 'u1' });
    expect(lanes.of(request({ cookie: 'a=b; _token=good; c=d' }))).toEqual({ tenant: 't1', user: 'u1' });
  });

  it('is its address otherwise: inventing tokens makes nobody many', () => {
    const invented = Array.from({ length: 100 }, (_, n) => lanes.of(request({ authorization: `Bearer made-up-${n}` })));
    for (const lane of [...invented, lanes.of(request({}))]) expect(lane).toEqual({ tenant: '', user: '10.0.0.1' });
    expect(lanes.of(request({}, '10.0.0.2'))).toEqual({ tenant: '', user: '10.0.0.2' });
  });

  it('is not the user of a cookie when a header names another token', () => {
    expect(lanes.of(request({ authorization: 'Bearer other', cookie: '_token=good' }))).toEqual({
      tenant: '',
      user: '10.0.0.1',
    });
  });
});
