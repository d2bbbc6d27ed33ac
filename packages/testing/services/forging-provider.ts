/**
 * An identity provider that says and signs whatever a test wants. It lets everybody in at once, as the person that the test
 * named last; what is wrong with its next ID token is the test's choice, too.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { SignJWT, UnsecuredJWT, exportJWK, generateKeyPair } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { startLoopbackHttps } from './loopback-https.ts';

export type ForgingProvider = Awaited<ReturnType<typeof startForgingProvider>>;

export type Forgery = {
  /** Over the honest claims; undefined leaves one out. */
  claims?: Record<string, unknown>;
  /** Instead of the key that is published. */
  sign?: (claims: Record<string, unknown>, honest: SigningKey) => Promise<string>;
  header?: Record<string, unknown>;
  /** Of the token endpoint, instead of its answer. */
  tokenError?: { status: number; body: object };
  /** Of the authorization endpoint, over the honest ones; undefined leaves one out. */
  callback?: Record<string, string | undefined>;
  metadata?: Record<string, unknown>;
  userinfo?: Record<string, unknown> | 'broken';
  wantsSecretInBody?: boolean;
  /** As dex: the device endpoint reads the client from the body alone, and lets everybody begin; the person meets the refusal. */
  readsDeviceClientFromBody?: boolean;
};

type SigningKey = { privateKey: CryptoKey; jwk: JWK; kid: string };

type Grant = { nonce: string | null; challenge: string; redirectUri: string; person: Record<string, unknown> };

export async function startForgingProvider(input: { clientId: string; clientSecret: string }) {
  const https = await startLoopbackHttps();
  const issuer = `${https.url}/realm`;
  let key = await makeKey();
  let forgery: Forgery = {};
  let person: Record<string, unknown> = { sub: 'nobody' };
  /** Several at once: a browser that asks with `as` is let in as that subject. */
  const known = new Map<string, Record<string, unknown>>();
  const grants = new Map<string, Grant>();
  const devices = new Map<string, { state: 'pending' | 'approved' | 'denied'; challenge: string }>();
  const strangers = new Set<string>();
  const requests: string[] = [];

  async function idToken(nonce: string | null, who: Record<string, unknown>): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuer,
      aud: input.clientId,
      iat: now,
      exp: now + 300,
      ...(nonce !== null && { nonce }),
      ...who,
      ...forgery.claims,
    };
    if (forgery.sign) return forgery.sign(claims, key);
    const header = { alg: 'RS256', kid: key.kid, ...forgery.header };
    return new SignJWT(claims).setProtectedHeader(header).sign(key.privateKey);
  }

  function metadata(): object {
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/keys`,
      end_session_endpoint: `${issuer}/logout`,
      device_authorization_endpoint: `${issuer}/device`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'HS256', 'none'],
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
      ...forgery.metadata,
    };
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const code = randomUUID();
    const redirectUri = query.get('redirect_uri') ?? '';
    grants.set(code, {
      nonce: query.get('nonce'),
      challenge: query.get('code_challenge') ?? '',
      redirectUri,
      person: known.get(query.get('as') ?? '') ?? person,
    });
    const back = new URL(redirectUri);
    const answer = { code, state: query.get('state') ?? '', session_state: 'x', ...forgery.callback };
    for (const [name, value] of Object.entries(answer)) if (value !== undefined) back.searchParams.set(name, value);
    response.writeHead(302, { location: back.href }).end();
  }

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = new URLSearchParams(await text(request));
    if (forgery.tokenError) return json(response, forgery.tokenError.status, forgery.tokenError.body);
    if (!isOurClient(request.headers.authorization, body)) return json(response, 401, { error: 'invalid_client' });
    if (body.get('grant_type')?.endsWith('device_code')) return deviceToken(body, response);
    const grant = grants.get(body.get('code') ?? '');
    grants.delete(body.get('code') ?? ''); // once
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant?.challenge !== challenge || grant.redirectUri !== body.get('redirect_uri'))
      return json(response, 400, { error: 'invalid_grant' });
    return json(response, 200, await tokens(grant.nonce, grant.person));
  }

  /** In the header, form-encoded as RFC 6749 says; or in the body, where the test wants it there. */
  function isOurClient(header: string | undefined, body: URLSearchParams): boolean {
    if (forgery.wantsSecretInBody)
      return body.get('client_id') === input.clientId && body.get('client_secret') === input.clientSecret;
    const given = Buffer.from((header ?? '').replace('Basic ', ''), 'base64')
      .toString()
      .split(':');
    return given.map(decodeURIComponent).join(':') === `${input.clientId}:${input.clientSecret}`;
  }

  const tokens = async (nonce: string | null, who: Record<string, unknown>) => ({
    access_token: 'access',
    token_type: 'Bearer',
    expires_in: 60,
    id_token: await idToken(nonce, who),
  });

  async function deviceToken(body: URLSearchParams, response: ServerResponse): Promise<void> {
    const code = body.get('device_code') ?? '';
    const { state, challenge } = devices.get(code) ?? {};
    const given = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (state !== undefined && challenge !== given) return json(response, 400, { error: 'invalid_grant' });
    if (state === 'pending') return json(response, 400, { error: 'authorization_pending' });
    if (strangers.has(code)) return json(response, 401, { error: 'invalid_client' });
    if (state === 'denied') return json(response, 400, { error: 'access_denied' });
    if (state === undefined) return json(response, 400, { error: 'expired_token' });
    devices.delete(code);
    return json(response, 200, await tokens(null, person));
  }

  async function startDevice(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const code = randomUUID();
    const body = new URLSearchParams(await text(request));
    const isInBody = body.get('client_id') === input.clientId && body.get('client_secret') === input.clientSecret;
    if (forgery.readsDeviceClientFromBody && !isInBody) strangers.add(code);
    const challenge = body.get('code_challenge');
    if (challenge === null) return json(response, 400, { error: 'invalid_request' }); // as Keycloak, where PKCE is a must
    devices.set(code, { state: 'pending', challenge });
    json(response, 200, {
      device_code: code,
      user_code: 'WDJB-MJHT',
      verification_uri: `${issuer}/activate`,
      expires_in: 300,
      interval: 1,
    });
  }

  https.answerWith((request, response) => {
    const url = new URL(request.url ?? '', https.url);
    requests.push(`${request.method} ${url.pathname}`);
    switch (url.pathname.replace('/realm', '')) {
      case '/.well-known/openid-configuration':
        return json(response, 200, metadata());
      case '/keys':
        return json(response, 200, { keys: [key.jwk] });
      case '/authorize':
        return authorize(url.searchParams, response);
      case '/token':
        return void token(request, response);
      case '/device':
        return void startDevice(request, response);
      case '/userinfo':
        if (forgery.userinfo === 'broken') return json(response, 500, {});
        return json(response, 200, { sub: person['sub'], ...forgery.userinfo });
      default:
        return void response.writeHead(404).end();
    }
  });

  return {
    issuer,
    /** Method and path of every request. */
    requests,
    /** Who signs in from now on; nothing is forged any more. */
    signsIn(claims: Record<string, unknown> & { sub: string }): void {
      person = claims;
      forgery = {};
    },
    knows(claims: Record<string, unknown> & { sub: string }): void {
      known.set(claims.sub, claims);
    },
    forges(next: Forgery): void {
      forgery = next;
    },
    async rotateKey(): Promise<void> {
      key = await makeKey();
    },
    decideDevices(decision: 'approved' | 'denied'): void {
      for (const device of devices.values()) device.state = decision;
    },
    stop: () => https.stop(),
    start: () => https.start(),
  };
}

/** A token without a signature. */
export const unsigned = async (claims: Record<string, unknown>): Promise<string> => new UnsecuredJWT(claims).encode();

export async function makeKey(alg = 'RS256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const kid = randomUUID();
  return { privateKey, kid, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

function json(response: ServerResponse, status: number, body: object): void {
  const challenge = status === 401 ? { 'www-authenticate': 'Basic realm="x"' } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...challenge }).end(JSON.stringify(body));
}
