/**
 * Authenticates this server to the provider with the client secret: in the header, which RFC 6749 prefers, or in the
 * body. Some providers list both methods and accept only the one that the client is registered with. Others read the
 * header without decoding it. If the provider refuses one method, the other one is tried, and the accepted one is kept.
 */
import type * as OpenIdClient from 'openid-client';

type Asked = { library: typeof OpenIdClient; configuration: OpenIdClient.Configuration };

export type ClientAuthentication = {
  of(library: typeof OpenIdClient): OpenIdClient.ClientAuth;
  /**
   * Repeats `ask` once with the other method if the provider refused the client. A refused call has had no effect yet.
   */
  accepted<Result>(asked: Asked, ask: () => Promise<Result>): Promise<Result>;
  /**
   * Does the same for the start of a sign-in with a device code. Here the body comes first if the provider accepts it
   * at all. dex reads the secret only from the body. Without it, dex answers as if it were correct, and refuses the
   * client (`invalid_client`) after the person has typed the code. The method that is accepted here says nothing about
   * other calls.
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
