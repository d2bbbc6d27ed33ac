/** What travels sealed through the browser during a sign-in. seal.ts explains why the server does not store it. */
import { createHash, randomBytes } from 'node:crypto';
import { createSeal } from './seal.ts';

export const SIGN_IN_SECONDS = 600;
export const APPROVAL_SECONDS = 300;
export const CLI_CODE_SECONDS = 60;
/**
 * The longest time that a provider may allow for a device code. It is below the hour for which used codes are
 * remembered.
 */
export const DEVICE_SECONDS = 1_800;
/**
 * A session can be renewed without end. After this time, the logout of the provider asks the person before it ends the
 * session.
 */
export const ID_TOKEN_SECONDS = 30 * 24 * 3_600;

/** A command line that waits on its own machine for the end of the sign-in. */
export type CliTarget = { port: number; challenge: string; state: string };

export type SignInState = {
  state: string;
  nonce: string;
  codeVerifier: string;
  next: string;
  cli: CliTarget | null;
};
export type Approval = { id: string; tenantId: string; tenantName: string; userId: string; cli: CliTarget };
export type CliCode = { id: string; tenantId: string; tenantName: string; userId: string; challenge: string };
export type DeviceHandle = { id: string; deviceCode: string; codeVerifier: string };

export const createSeals = (secret: string) => ({
  signIn: createSeal<SignInState>({ secret, purpose: 'sign-in' }),
  approval: createSeal<Approval>({ secret, purpose: 'approval' }),
  cliCode: createSeal<CliCode>({ secret, purpose: 'cli-code' }),
  device: createSeal<DeviceHandle>({ secret, purpose: 'device' }),
  idToken: createSeal<{ idToken: string }>({ secret, purpose: 'id-token' }),
});

export const randomId = (): string => randomBytes(32).toString('base64url');

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

const COOKIE_PREFIX = '_sso_';
/** Each sign-in has its own cookie, so that two tabs do not overwrite each other. */
export const cookieNameOf = (state: string): string => `${COOKIE_PREFIX}${hashOf(state).slice(0, 12)}`;
export const isSignInCookie = (name: string): boolean => name.startsWith(COOKIE_PREFIX);
