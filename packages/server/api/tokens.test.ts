import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '../testing/test-server.ts';
import type { TestServer } from '../testing/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.close());

const logIn = (body: unknown, headers: Record<string, string> = {}) =>
  server.call('/auth/token', { method: 'POST', body, headers });

describe('POST /auth/token', () => {
  it('issues a bearer token that works, whatever the case of the address', async () => {
    const answer = await logIn({ username: ADMIN_EMAIL.toUpperCase(), password: TEST_PASSWORD });
    expect(answer.status).toBe(200);
    const body = answer.json<{ access_token: string; token_type: string; expires_in: number }>();
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    expect((await server.call('/api/v2/version', { token: body.access_token })).status).toBe(200);
  });
});
