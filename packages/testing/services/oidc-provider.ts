/** A real identity provider, the npm package `oidc-provider`: it asks for name and consent in a page of its own. */
import { Provider } from 'oidc-provider';
import type { Configuration } from 'oidc-provider';
import { startLoopbackHttps } from './loopback-https.ts';

export type OidcProvider = Awaited<ReturnType<typeof startOidcProvider>>;

export type Account = { email: string; email_verified?: boolean; groups?: string[]; tid?: string };

export async function startOidcProvider(input: {
  clientId: string;
  clientSecret: string;
  redirectUrl: string | string[];
  afterLogout: string;
  /** By the name that is typed at the login. */
  accounts: Record<string, Account>;
  /** As the standard has it: what a scope asks for is in the user info, and not in the ID token. */
  claimsInUserInfo?: boolean;
}) {
  const https = await startLoopbackHttps();
  const configuration: Configuration = {
    clients: [
      {
        client_id: input.clientId,
        client_secret: input.clientSecret,
        redirect_uris: [input.redirectUrl].flat(),
        post_logout_redirect_uris: [input.afterLogout],
        grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
        response_types: ['code'],
      },
    ],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      groups: ['groups'],
      tenant: ['tid'],
    },
    conformIdTokenClaims: input.claimsInUserInfo ?? false,
    features: {
      devInteractions: { enabled: true },
      deviceFlow: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    pkce: { required: () => true },
    cookies: { keys: ['of the tests'] },
    findAccount: (_context, id) => {
      const account = input.accounts[id];
      return account && { accountId: id, claims: () => ({ sub: id, email_verified: true, ...account }) };
    },
  };
  const quiet = console.warn;
  console.warn = () => {}; // that its keys and pages are for development is known here
  const provider = new Provider(https.url, configuration);
  console.warn = quiet;
  https.answerWith(provider.callback());
  return { issuer: https.url, stop: () => https.stop() };
}
