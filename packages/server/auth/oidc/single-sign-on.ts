/**
 * Single sign-on from the first redirect to the session:
 *
 *   start ──▶ (provider) ──▶ finish ──▶ session
 *                              └─▶ approve ──▶ redeemCliCode ──▶ session of a command line
 *   startDevice ──▶ (provider, elsewhere) ──▶ pollDevice ──▶ session of a command line
 *
 * Any process may answer any step. The browser or the command line carries the sealed state. The database records that
 * a state was used, once for all processes.
 */
import { scopedToTenant } from '../../db/database.ts';
import type { Database, TenantDb } from '../../db/database.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { lockUser } from '../../db/identity/oidc-identities.ts';
import { findIdToken, keepIdToken, useSignIn } from '../../db/identity/oidc-sign-ins.ts';
import { findTenantByName } from '../../db/identity/tenants.ts';
import type { Tenant } from '../../db/identity/tenants.ts';
import type { Principal } from '../principal.ts';
import type { IssuedToken, Sessions } from '../sessions.ts';
import { admit } from './admit.ts';
import type { Admitted, Origin } from './admit.ts';
import { checkWordOf } from './check-word.ts';
import { personOf } from './policy.ts';
import type { Provider, SignedIn } from './provider.ts';
import { SsoRefusal } from './refusals.ts';
import type { OidcSettings } from './settings.ts';
import {
  APPROVAL_SECONDS,
  CLI_CODE_SECONDS,
  DEVICE_SECONDS,
  ID_TOKEN_SECONDS,
  SIGN_IN_SECONDS,
  cookieNameOf,
  createSeals,
  hashOf,
  randomId,
} from './sign-in-state.ts';
import type { CliTarget } from './sign-in-state.ts';

export type Started = { location: URL; cookie: { name: string; value: string; maxAgeSeconds: number } };

export type Finished =
  | { kind: 'session'; token: IssuedToken; next: string }
  | { kind: 'approval'; ticket: string; email: string; tenant: string; checkWord: string };

export type DeviceOffer = {
  handle: string;
  userCode: string;
  verificationUri: string;
  verificationUriComplete: string | undefined;
  expiresInSeconds: number;
  intervalSeconds: number;
};

export type DevicePoll = { kind: 'pending'; slowDown: boolean } | { kind: 'session'; token: IssuedToken };

export type SingleSignOn = {
  start(input: { next: string; cli: CliTarget | null }): Promise<Started>;
  /** `cookie` is the cookie of the state, if the browser sent it. Every refusal is thrown as `SsoRefusal`. */
  finish(input: { query: URLSearchParams; cookie: string | undefined; origin: Origin }): Promise<Finished>;
  /**
   * Records that the person agreed. Returns the URL at which the command line waits, with a code that is useless to any
   * other program.
   */
  approve(ticket: string): Promise<URL>;
  redeemCliCode(input: { code: string; verifier: string; origin: Origin }): Promise<IssuedToken>;
  /** Undefined if the provider does not offer device codes. */
  startDevice(): Promise<DeviceOffer | undefined>;
  pollDevice(input: { handle: string; origin: Origin }): Promise<DevicePoll>;
  /**
   * Undefined if the session did not come from the provider, if the provider has no logout, or if it is unreachable.
   */
  logoutUrl(principal: Principal, returnTo: string): Promise<URL | undefined>;
};

/** A longer token does not fit into the URL of a logout. The provider then asks the person. */
const MAX_ID_TOKEN_LENGTH = 6_000;

export function createSingleSignOn(input: {
  db: Database;
  settings: OidcSettings;
  provider: Provider;
  sessions: Pick<Sessions, 'open'>;
  /** All processes share this secret. */
  secret: string;
}): SingleSignOn {
  const { db, settings, provider, sessions } = input;
  const seals = createSeals(input.secret);

  async function useOnce(id: string): Promise<void> {
    if (!(await useSignIn(db.shared, hashOf(id)))) throw new SsoRefusal('sign_in_replayed');
  }

  /** Admits the person of these claims and runs `then`, in one transaction. */
  async function admitted<Result>(
    { claims }: SignedIn,
    origin: Origin,
    then: (admitted: Admitted) => Promise<Result>,
  ): Promise<Result> {
    const person = personOf(claims, settings);
    const issuer = String(claims['iss']);
    const outcome = await db.shared.transaction().execute(async (trx) => {
      const who = await admit(trx, { person, issuer, settings, origin });
      return who instanceof SsoRefusal ? who : { result: await then(who) };
    });
    if (outcome instanceof SsoRefusal) throw outcome;
    return outcome.result;
  }

  async function openSession(
    { scope, tenant, user }: { scope: TenantDb; tenant: Tenant; user: Admitted['user'] },
    { origin, via }: { origin: Origin; via: 'browser' | 'cli' | 'device' },
  ): Promise<{ token: IssuedToken; sessionId: string }> {
    await recordAudit(
      scope,
      { name: user.email, ...origin },
      { event: 'login', objectKind: 'user', objectId: user.id, detail: { method: 'oidc', via } },
    );
    return sessions.open(scope, tenant, user);
  }

  return {
    async start({ next, cli }) {
      const [state, nonce, codeVerifier] = [randomId(), randomId(), randomId()];
      const location = await provider.authorizationUrl({ state, nonce, codeVerifier });
      const value = await seals.signIn.close({ state, nonce, codeVerifier, next, cli }, SIGN_IN_SECONDS);
      return { location, cookie: { name: cookieNameOf(state), value, maxAgeSeconds: SIGN_IN_SECONDS } };
    },

    async finish({ query, cookie, origin }) {
      const signIn = cookie === undefined ? undefined : await seals.signIn.open(cookie);
      if (!signIn || signIn.state !== query.get('state')) throw new SsoRefusal('sign_in_unknown');
      const { state, nonce, codeVerifier, next, cli } = signIn;
      // This must precede the redemption of the code: if two processes get the same answer, only one continues.
      await useOnce(`sign-in ${state}`);
      const signedIn = await provider.redeemCode({ query, state, nonce, codeVerifier });
      return admitted(signedIn, origin, async (who): Promise<Finished> => {
        const { tenant, user } = who;
        if (cli !== null) {
          const approval = { id: randomId(), tenantId: tenant.id, tenantName: tenant.name, userId: user.id, cli };
          const ticket = await seals.approval.close(approval, APPROVAL_SECONDS);
          const checkWord = checkWordOf(cli.challenge);
          return { kind: 'approval', ticket, email: user.email, tenant: tenant.name, checkWord };
        }
        const { token, sessionId } = await openSession(who, { origin, via: 'browser' });
        const idToken = signedIn.idToken.length > MAX_ID_TOKEN_LENGTH ? '' : signedIn.idToken;
        await keepIdToken(who.scope, sessionId, await seals.idToken.close({ idToken }, ID_TOKEN_SECONDS));
        return { kind: 'session', token, next };
      });
    },

    async approve(ticket) {
      const approval = await seals.approval.open(ticket);
      if (!approval) throw new SsoRefusal('sign_in_unknown');
      await useOnce(`approval ${approval.id}`);
      const { tenantId, tenantName, userId, cli } = approval;
      const code = await seals.cliCode.close(
        { id: randomId(), tenantId, tenantName, userId, challenge: cli.challenge },
        CLI_CODE_SECONDS,
      );
      const location = new URL(`http://127.0.0.1:${cli.port}/callback`);
      location.search = new URLSearchParams({ code, state: cli.state }).toString();
      return location;
    },

    async redeemCliCode({ code, verifier, origin }) {
      const opened = await seals.cliCode.open(code);
      // The code proves that the caller has seen the browser. The verifier proves that the caller started the sign-in.
      if (!opened || hashOf(verifier) !== opened.challenge) throw new SsoRefusal('sign_in_unknown');
      await useOnce(`cli-code ${opened.id}`);
      const tenant = { id: opened.tenantId, name: opened.tenantName };
      return db.shared.transaction().execute(async (trx) => {
        const scope = scopedToTenant(trx, tenant.id);
        const user = await lockUser(scope, opened.userId);
        if ((await findTenantByName(trx, tenant.name))?.disabled_at !== null)
          throw new SsoRefusal('tenant_disabled', { person: { tenantId: tenant.id } });
        const person = { tenantId: tenant.id, ...(user && { userId: user.id, email: user.email }) };
        if (!user?.is_active) throw new SsoRefusal('user_inactive', { person });
        return (await openSession({ scope, tenant, user }, { origin, via: 'cli' })).token;
      });
    },

    async startDevice() {
      const start = await provider.startDevice();
      if (!start) return undefined;
      const { deviceCode, codeVerifier, ...rest } = start;
      const expiresInSeconds = Math.min(start.expiresInSeconds, DEVICE_SECONDS);
      const handle = await seals.device.close({ id: randomId(), deviceCode, codeVerifier }, expiresInSeconds);
      return { ...rest, handle, expiresInSeconds };
    },

    async pollDevice({ handle, origin }) {
      const opened = await seals.device.open(handle);
      if (!opened) throw new SsoRefusal('sign_in_unknown');
      const answer = await provider.pollDevice(opened);
      if (answer === 'over') throw new SsoRefusal('sign_in_unknown');
      if (answer === 'pending' || answer === 'slow_down') return { kind: 'pending', slowDown: answer === 'slow_down' };
      await useOnce(`device ${opened.id}`);
      return admitted(answer, origin, async (who) => {
        const { token } = await openSession(who, { origin, via: 'device' });
        return { kind: 'session', token };
      });
    },

    async logoutUrl({ tenantId, sessionId }, returnTo) {
      const sealed = sessionId === null ? undefined : await findIdToken(db.tenant(tenantId), sessionId);
      if (sealed === undefined) return undefined;
      const idToken = (await seals.idToken.open(sealed))?.idToken ?? '';
      return provider.logoutUrl({ idToken, returnTo }).catch(() => undefined);
    },
  };
}
