/**
 * How this server proves to the provider who it is: the client secret in the header, as RFC 6749 has it first, or in the body.
 * Providers list both and then take only the one that the client is registered with, or read the header without decoding it;
 * so when the one is refused, the other is tried, and what was accepted is kept.
 */
import type * as OpenIdClient from 'openid-client';

type Asked = { library: typeof OpenIdClient; configuration: OpenIdClient.Configuration };

export type ClientAuthentication = {
  of(library: typeof OpenIdClient): OpenIdClient.ClientAuth;
  /** `ask` is repeated once, the other way, when the provider did not accept who we are: it has then done nothing yet. */
  accepted<Result>(asked: Asked, ask: () => Promise<Result>): Promise<Result>;
  /**
   * The same for the beginning of a sign-in with a device code. There the secret goes in the body first, where the provider
   * takes it in the body at all: dex looks nowhere else, answers as if all were well, and refuses the client (`invalid_client`)
   * when the person has typed the code. What is accepted here says nothing about other calls.
   */
  acceptedByDeviceEndpoint<Result>(
    asked: Asked,
    ask: (as: OpenIdClient.Configuration) => Promise<Result>,
  ): Promise<Result>;
};

const BASIC = 'client_secret_basic';
const POST = 'client_secret_post';

export function createClientAuthentication(secret: string): ClientAuthentication {
  let preferred: typeof BASIC | typeof POST = BASIC;
  let isKnownGood = false;
  const supported = (server: OpenIdClient.ServerMetadata): readonly string[] =>
    server.token_endpoint_auth_methods_supported ?? [BASIC];

  return {
    of(library) {
      if (secret === '') return library.None();
      const ways = { [BASIC]: library.ClientSecretBasic(secret), [POST]: library.ClientSecretPost(secret) };
      return (server, ...rest) => {
        const methods = supported(server);
        const other = preferred === BASIC ? POST : BASIC;
        return ways[methods.includes(preferred) || !methods.includes(other) ? preferred : other](server, ...rest);
      };
    },

    async acceptedByDeviceEndpoint(asked, ask) {
      const { library, configuration } = asked;
      if (secret === '' || !supported(configuration.serverMetadata()).includes(POST))
        return this.accepted(asked, () => ask(configuration));
      const { client_id: clientId } = configuration.clientMetadata();
      const inBody = new library.Configuration(
        configuration.serverMetadata(),
        clientId,
        configuration.clientMetadata(),
        library.ClientSecretPost(secret),
      );
      if (configuration.timeout !== undefined) inBody.timeout = configuration.timeout;
      try {
        return await ask(inBody);
      } catch (error) {
        if (!isClientRefused(library, error)) throw error;
        return this.accepted(asked, () => ask(configuration));
      }
    },

    async accepted({ library, configuration }, ask) {
      try {
        const result = await ask();
        isKnownGood = true;
        return result;
      } catch (error) {
        const methods = supported(configuration.serverMetadata());
        const hasOther = secret !== '' && !isKnownGood && methods.includes(BASIC) && methods.includes(POST);
        if (!hasOther || !isClientRefused(library, error)) throw error;
        preferred = preferred === BASIC ? POST : BASIC;
        const result = await ask();
        isKnownGood = true;
        return result;
      }
    },
  };
}

const isClientRefused = (library: typeof OpenIdClient, error: unknown): boolean =>
  error instanceof library.WWWAuthenticateChallengeError ||
  (error instanceof library.ResponseBodyError && error.error === 'invalid_client');
