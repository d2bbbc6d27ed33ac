/**
 * The identity provider, as its own metadata describes it. The metadata is not needed to boot. It is fetched when a
 * person signs in, and kept for a while. If the provider is unreachable, the next sign-in asks again.
 */
import type * as OpenIdClient from 'openid-client';
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import { createClientAuthentication } from './client-authentication.ts';
import { createIdTokenVerifier } from './id-token.ts';
import type { IdTokenVerifier } from './id-token.ts';
import type { Claims } from './policy.ts';
import { refusalOf } from './provider-errors.ts';
import { SsoRefusal } from './refusals.ts';
import type { OidcSettings } from './settings.ts';

/**
 * The claims of the person who signed in, and the ID token that contains them, which the logout of the provider needs.
 */
export type SignedIn = { claims: Claims; idToken: string };

export type DeviceStart = {
  deviceCode: string;
  /**
   * RFC 8628 does not contain PKCE, but Keycloak requires it here too if it requires it of the client. Empty means that
   * none is sent.
   */
  codeVerifier: string;
  userCode: string;
  verificationUri: string;
  verificationUriComplete: string | undefined;
  expiresInSeconds: number;
  intervalSeconds: number;
};

export type ProviderFacts = { issuer: string; hasLogout: boolean; hasDeviceCodes: boolean };

export type Provider = {
  authorizationUrl(input: { state: string; nonce: string; codeVerifier: string }): Promise<URL>;
  /** `query` is the query of the callback. */
  redeemCode(input: { query: URLSearchParams; state: string; nonce: string; codeVerifier: string }): Promise<SignedIn>;
  /** Undefined if the provider does not offer device codes. */
  startDevice(): Promise<DeviceStart | undefined>;
  pollDevice(
    start: Pick<DeviceStart, 'deviceCode' | 'codeVerifier'>,
  ): Promise<SignedIn | 'pending' | 'slow_down' | 'over'>;
  /**
   * The URL at which the browser ends its session at the provider, or undefined if the provider offers none. The token
   * may be empty.
   */
  logoutUrl(input: { idToken: string; returnTo: string }): Promise<URL | undefined>;
  facts(): Promise<ProviderFacts>;
};

type Known = {
  library: typeof OpenIdClient;
  configuration: OpenIdClient.Configuration;
  verify: IdTokenVerifier;
  fetchedAt: number;
};

const TIMEOUT_SECONDS = 10;
const METADATA_LIVES_MS = 60 * 60_000;
/** Minimum time between two requests after a failure, so that many sign-ins at once do not overload the provider. */
const ASK_AGAIN_MS = 1_000;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const MAX_SUBJECT_LENGTH = 255;

type Log = { warn(details: Coded, message: string): void };

export function createProvider(input: { settings: OidcSettings; log: Log }): Provider {
  const { settings, log } = input;
  const authentication = createClientAuthentication(settings.clientSecret);
  let known: Known | undefined;
  let asking: Promise<Known> | undefined;
  let failed: { at: number; error: SsoRefusal } | undefined;

  async function fetchMetadata(): Promise<Known> {
    const library = await import('openid-client');
    try {
      const metadata = { [library.clockTolerance]: settings.clockSkewSeconds };
      const configuration = await library.discovery(
        new URL(settings.issuer),
        settings.clientId,
        metadata,
        authentication.of(library),
        { timeout: TIMEOUT_SECONDS },
      );
      const { issuer, jwks_uri: keysUrl } = configuration.serverMetadata();
      // The library accepts issuers that serve all customers of a vendor. Tokens of any issuer except the configured
      // one are not meant for this server.
      if (new URL(issuer).href !== new URL(settings.issuer).href)
        throw new Error(`its metadata names the issuer ${issuer}`);
      if (keysUrl === undefined || new URL(keysUrl).protocol !== 'https:')
        throw new Error('its metadata names no https address of its keys');
      const verify = createIdTokenVerifier({
        issuer,
        clientId: settings.clientId,
        keysUrl: new URL(keysUrl),
        clockSkewSeconds: settings.clockSkewSeconds,
      });
      failed = undefined;
      return { library, configuration, verify, fetchedAt: performance.now() };
    } catch (error) {
      const refusal = refusalOf(library, error, 'registration_refused');
      log.warn(
        { code: 'SVC6005', issuer: settings.issuer, err: error },
        'the metadata of the identity provider could not be read',
      );
      failed = { at: performance.now(), error: refusal };
      throw refusal;
    }
  }

  async function ask(): Promise<Known> {
    const isFresh = known !== undefined && performance.now() - known.fetchedAt < METADATA_LIVES_MS;
    if (known && isFresh) return known;
    if (failed && performance.now() - failed.at < ASK_AGAIN_MS) {
      if (known) return known;
      throw failed.error;
    }
    asking ??= fetchMetadata().finally(() => (asking = undefined));
    try {
      known = await asking;
    } catch (error) {
      if (!known) throw error; // otherwise the known metadata stays in use, because it is most likely still right
    }
    return known as Known;
  }

  /** Verifies every answer of the provider, whichever flow it came from. */
  async function believed(
    { library, configuration, verify }: Known,
    tokens: OpenIdClient.TokenEndpointResponse,
    nonce: string | undefined,
  ): Promise<SignedIn> {
    const { id_token: idToken, access_token: accessToken } = tokens;
    if (idToken === undefined) throw new SsoRefusal('answer_invalid', { cause: new Error('there is no ID token') });
    const claims = await verify(idToken, { nonce });
    if (claims.sub.length > MAX_SUBJECT_LENGTH)
      throw new SsoRefusal('answer_invalid', { cause: new Error('the subject is too long') });
    const hasEmail = claims['email'] !== undefined && (claims['email_verified'] ?? claims['xms_edov']) !== undefined;
    const wantsGroups = Object.keys(settings.roleMappings).length > 0 && claims[settings.groupsClaim] === undefined;
    const wantsTenant = settings.tenantClaim !== '' && claims[settings.tenantClaim] === undefined;
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    if ((hasEmail && !wantsGroups && !wantsTenant) || !hasUserInfo) return { claims, idToken };
    try {
      const info = await library.fetchUserInfo(configuration, accessToken, claims.sub);
      let complete = hasEmail ? claims : withEmail(claims, info);
      if (wantsGroups) complete = withClaim(complete, info, settings.groupsClaim);
      if (wantsTenant) complete = withClaim(complete, info, settings.tenantClaim);
      return { claims: complete, idToken };
    } catch (error) {
      log.warn({ code: 'SVC6006', err: error }, 'the user info of the identity provider could not be read');
      // Without known groups, the person would lose the roles that the groups give.
      if (wantsGroups || wantsTenant) throw new SsoRefusal('provider_unreachable', { cause: error });
      return { claims, idToken };
    }
  }

  return {
    async authorizationUrl({ state, nonce, codeVerifier }) {
      const { library, configuration } = await ask();
      return library.buildAuthorizationUrl(configuration, {
        redirect_uri: settings.redirectUrl,
        scope: settings.scopes.join(' '),
        response_mode: 'query',
        state,
        nonce,
        code_challenge: await library.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      });
    },

    async redeemCode({ query, state, nonce, codeVerifier }) {
      const current = await ask();
      // The URL that is registered at the provider. Behind a proxy, the URL of this request may differ.
      const url = new URL(settings.redirectUrl);
      url.search = query.toString();
      try {
        const tokens = await authentication.accepted(current, () =>
          current.library.authorizationCodeGrant(current.configuration, url, {
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: codeVerifier,
            idTokenExpected: true,
          }),
        );
        return await believed(current, tokens, nonce);
      } catch (error) {
        throw refusalOf(current.library, error, 'answer_invalid');
      }
    },

    async startDevice() {
      const { library, configuration } = await ask();
      if (configuration.serverMetadata().device_authorization_endpoint === undefined) return undefined;
      try {
        const takesChallenge = configuration.serverMetadata().code_challenge_methods_supported?.includes('S256');
        const codeVerifier = takesChallenge ? library.randomPKCECodeVerifier() : '';
        const challenge = takesChallenge
          ? {
              code_challenge: await library.calculatePKCECodeChallenge(codeVerifier),
              code_challenge_method: 'S256',
            }
          : {};
        const start = await authentication.acceptedByDeviceEndpoint({ library, configuration }, (as) =>
          library.initiateDeviceAuthorization(as, { scope: settings.scopes.join(' '), ...challenge }),
        );
        return {
          deviceCode: start.device_code,
          codeVerifier,
          userCode: start.user_code,
          verificationUri: start.verification_uri,
          verificationUriComplete: start.verification_uri_complete,
          expiresInSeconds: start.expires_in,
          intervalSeconds: start.interval ?? 5,
        };
      } catch (error) {
        throw refusalOf(library, error, 'registration_refused');
      }
    },

    async pollDevice({ deviceCode, codeVerifier }) {
      const current = await ask();
      const { library, configuration } = current;
      try {
        const tokens = await authentication.accepted(current, () =>
          library.genericGrantRequest(configuration, DEVICE_GRANT, {
            device_code: deviceCode,
            ...(codeVerifier !== '' && { code_verifier: codeVerifier }),
          }),
        );
        return await believed(current, tokens, undefined);
      } catch (error) {
        if (error instanceof library.ResponseBodyError) {
          if (error.error === 'authorization_pending') return 'pending';
          if (error.error === 'slow_down') return 'slow_down';
          if (error.error === 'expired_token') return 'over';
          if (error.error === 'access_denied') throw new SsoRefusal('provider_denied', { cause: error });
        }
        throw refusalOf(library, error, 'answer_invalid');
      }
    },

    async logoutUrl({ idToken, returnTo }) {
      const { library, configuration } = await ask();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      return library.buildEndSessionUrl(configuration, {
        ...(idToken !== '' && { id_token_hint: idToken }),
        post_logout_redirect_uri: returnTo,
      });
    },

    async facts() {
      const { issuer, end_session_endpoint, device_authorization_endpoint } = (
        await ask()
      ).configuration.serverMetadata();
      return {
        issuer,
        hasLogout: end_session_endpoint !== undefined,
        hasDeviceCodes: device_authorization_endpoint !== undefined,
      };
    },
  };
}

/**
 * Adds the groups or the tenant from the user info, because many providers send them only there. A claim in the token
 * takes precedence, even an empty list.
 */
const withClaim = (claims: Claims, info: Readonly<Record<string, unknown>>, claim: string): Claims =>
  info[claim] === undefined ? claims : { ...claims, [claim]: info[claim] };

/** Adds the address together with its verification, because the two must come from the same source. */
function withEmail(claims: Claims, info: Readonly<Record<string, unknown>>): Claims {
  const isSame = claims['email'] === undefined || claims['email'] === info['email'];
  return isSame ? { ...claims, email: info['email'], email_verified: info['email_verified'] } : claims;
}
