/** Single sign-on of a command line: exchanges the code from its browser, or a device code, for a token. */
import { Type } from 'typebox';
import { countFailure, lockBudget } from '../../db/identity/login-failures.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { SIGN_IN_REFUSALS, signedIn } from './oidc-refusal.ts';
import { TokenResponse, tokenBody } from './token-body.ts';

const Sealed = Type.String({ minLength: 1, maxLength: 8_192, writeOnly: true });

const ApproveCliRequest = Type.Object({ ticket: Sealed }, { title: 'ApproveCliRequest', additionalProperties: false });
const ApproveCliResponse = Type.Object(
  { location: Type.String({ description: 'Where the command line waits, with a code for it' }) },
  { title: 'ApproveCliResponse' },
);
const CliTokenRequest = Type.Object(
  { code: Sealed, verifier: Type.String({ minLength: 43, maxLength: 128, writeOnly: true }) },
  { title: 'CliTokenRequest', additionalProperties: false },
);
const DeviceLogin = Type.Object(
  {
    handle: Type.String({ description: 'For the token' }),
    user_code: Type.String({ description: 'What the person types' }),
    verification_uri: Type.String({ description: 'Where the person types it' }),
    verification_uri_complete: Type.Union([Type.String(), Type.Null()]),
    expires_in: Type.Integer({ description: 'Seconds' }),
    interval: Type.Integer({ description: 'Seconds to wait between two requests for the token' }),
  },
  { title: 'DeviceLogin' },
);
const DeviceTokenRequest = Type.Object(
  { handle: Sealed },
  { title: 'DeviceTokenRequest', additionalProperties: false },
);
const DevicePending = Type.Object(
  {
    status: Type.Literal('pending'),
    slow_down: Type.Boolean({ description: 'Wait five seconds longer from now on' }),
  },
  { title: 'DevicePending' },
);

/** Each login is a request from this server to the provider, so the number is limited. */
const DEVICE_LOGINS_PER_MINUTE = 10;

export function registerOidcCli(app: App, services: Services): void {
  app.post(
    '/api/v2/auth/oidc/cli/approve',
    {
      config: { access: 'public', refuses: SIGN_IN_REFUSALS },
      schema: {
        operationId: 'oidc_approve_cli',
        tags: ['Authentication'],
        summary: 'Authorize the command line of the user who has just signed in',
        description: 'Called by the page that asks the person.',
        body: ApproveCliRequest,
        response: { 200: ApproveCliResponse },
      },
    },
    async (request) => {
      const location = await signedIn(services, request, (signOn) => signOn.approve(request.body.ticket));
      return { location: location.href };
    },
  );

  app.post(
    '/api/v2/auth/oidc/cli/token',
    {
      config: { access: 'public', refuses: SIGN_IN_REFUSALS },
      schema: {
        operationId: 'oidc_cli_token',
        tags: ['Authentication'],
        summary: 'Exchange the code of a browser login for a token',
        description:
          'Once, within a minute, and only with the verifier whose SHA-256 hash the sign-in was started with.',
        body: CliTokenRequest,
        response: { 200: TokenResponse },
      },
    },
    async (request, reply) => {
      const { code, verifier } = request.body;
      const token = await signedIn(services, request, (signOn, origin) =>
        signOn.redeemCliCode({ code, verifier, origin }),
      );
      reply.header('cache-control', 'no-store');
      return tokenBody(token);
    },
  );

  app.post(
    '/api/v2/auth/oidc/device',
    {
      config: { access: 'public', refuses: ['unsupported_option', 'login_rate_limited', ...SIGN_IN_REFUSALS] },
      schema: {
        operationId: 'oidc_device_login',
        tags: ['Authentication'],
        summary: 'Start a device login, which the user finishes in a browser elsewhere',
        description: 'Only where the identity provider has device codes (RFC 8628).',
        response: { 200: DeviceLogin },
      },
    },
    async (request, reply) => {
      const offer = await signedIn(services, request, async (signOn, { clientIp }) => {
        await takeFromBudget(services, `device ${clientIp}`);
        return signOn.startDevice();
      });
      if (!offer)
        throw new ApiError(
          'unsupported_option',
          'the identity provider has no device codes: leave out --device, and log in with a browser on this computer',
        );
      reply.header('cache-control', 'no-store');
      return {
        handle: offer.handle,
        user_code: offer.userCode,
        verification_uri: offer.verificationUri,
        verification_uri_complete: offer.verificationUriComplete ?? null,
        expires_in: offer.expiresInSeconds,
        interval: offer.intervalSeconds,
      };
    },
  );

  app.post(
    '/api/v2/auth/oidc/device/token',
    {
      config: { access: 'public', refuses: SIGN_IN_REFUSALS },
      schema: {
        operationId: 'oidc_device_token',
        tags: ['Authentication'],
        summary: 'Get the token of a device login, after the user has finished it',
        body: DeviceTokenRequest,
        response: { 200: TokenResponse, 202: DevicePending },
      },
    },
    async (request, reply) => {
      const poll = await signedIn(services, request, (signOn, origin) =>
        signOn.pollDevice({ handle: request.body.handle, origin }),
      );
      reply.header('cache-control', 'no-store');
      if (poll.kind === 'pending')
        return reply.code(202).send({ status: 'pending' as const, slow_down: poll.slowDown });
      return tokenBody(poll.token);
    },
  );
}

async function takeFromBudget({ db }: Services, key: string): Promise<void> {
  await db.shared.transaction().execute(async (trx) => {
    const { failures, secondsLeft } = await lockBudget(trx, key);
    if (failures >= DEVICE_LOGINS_PER_MINUTE)
      throw new ApiError('login_rate_limited', 'too many logins were begun from this address: wait before the next', {
        'retry-after': String(secondsLeft),
      });
    await countFailure(trx, key);
  });
}
