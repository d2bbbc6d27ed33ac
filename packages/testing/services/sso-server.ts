/** A control plane whose way in is an identity provider. */
import { ADMIN_EMAIL, startTestServer } from '../server/test-server.ts';
import { freePort } from './free-port.ts';
import { createSignInClient } from './sign-in-client.ts';
import type { Seen } from './sign-in-client.ts';

export const CLIENT = { clientId: 'svc-client', clientSecret: 'client-secret-of-the-tests-0123456789' };

export type SsoServer = Awaited<ReturnType<typeof startSsoServer>>;

/** The administrator of the tests keeps a password; everybody else signs in at the provider. */
export async function startSsoServer(input: {
  issuer: string;
  port?: number;
  flags?: Record<string, string | string[]>;
}) {
  const port = input.port ?? (await freePort());
  const server = await startTestServer({
    'server.http-addr': `127.0.0.1:${port}`,
    'auth.provider': 'oidc',
    'ui.edition': 'pro',
    'auth.oidc.issuer': input.issuer,
    'auth.oidc.client-id': CLIENT.clientId,
    'auth.oidc.client-secret': CLIENT.clientSecret,
    'auth.oidc.redirect-url': callbackUrl(port),
    'auth.oidc.role-mappings': ['svc-admins=admin', 'svc-editors=editor', 'svc-viewers=viewer'],
    'auth.oidc.break-glass-emails': ADMIN_EMAIL,
    'auth.oidc.jit-provisioning': 'true',
    'auth.login-rate-limit-per-minute': '1000',
    ...input.flags,
  });

  return {
    ...server,
    /** A whole sign-in of a new browser; the answer is the first that is no redirect, or leads to `next`. */
    async signIn(next = '/healthz'): Promise<Seen & { token: string | undefined }> {
      const client = createSignInClient();
      const seen = await client.follow(`${server.url}/api/v2/auth/oidc/login?next=${encodeURIComponent(next)}`, (to) =>
        to.startsWith(`${server.url}${next}`),
      );
      return { ...seen, token: client.cookiesOf(server.url).get('_token') };
    },
    /** As the administrator sees it, newest first. */
    async audit(event: string): Promise<{ owner: string; extra: Record<string, unknown> }[]> {
      const token = await server.login();
      const answer = await server.call(`/api/v2/eventLogs?event=${event}&order_by=-event_log_id&limit=1000`, { token });
      const { event_logs: entries } = answer.json<{ event_logs: { owner: string; extra: string }[] }>();
      return entries.map(({ owner, extra }) => ({ owner, extra: JSON.parse(extra) as Record<string, unknown> }));
    },
  };
}

export const callbackUrl = (port: number): string => `http://127.0.0.1:${port}/api/v2/auth/oidc/callback`;
