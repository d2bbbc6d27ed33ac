/**
 * Gets a token by single sign-on: through the browser of this computer, or with a code that is typed in another one.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkWordOf } from '@svc/server/auth/oidc/check-word.ts';
import type { Token } from '@svc/client/wire-types.ts';
import { CliError, EXIT } from '../cli-error.ts';
import { createClient } from '../client/client.ts';
import type { CliContext } from '../context.ts';
import { listenOnLoopback } from './loopback-listener.ts';
import { openBrowser } from './open-browser.ts';

/** The provider may ask for a password, a second factor and a consent. The page is valid for ten minutes. */
const PATIENCE_MS = 10 * 60_000;
const SLOW_DOWN_SECONDS = 5;

const random = (): string => randomBytes(32).toString('base64url');

export async function signInWithBrowser(
  context: CliContext,
  input: { server: string; opensBrowser: boolean },
): Promise<Token> {
  const { server, opensBrowser } = input;
  const [state, verifier] = [random(), random()];
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const listener = await listenOnLoopback(state);
  try {
    const query = new URLSearchParams({ port: String(listener.port), challenge, state });
    const url = `${server}/api/v2/auth/oidc/cli?${query.toString()}`;
    await refuseWithoutSignOn(url);
    context.stderr.write(
      `${opensBrowser ? 'Your browser opens. If it does not, open this page yourself:' : 'Open this page in a browser on this computer:'}\n  ${url}\nIt must show the word ${checkWordOf(challenge)} before you agree.\n`,
    );
    if (opensBrowser) openBrowser(context.env, url);
    const code = await listener.code(AbortSignal.timeout(PATIENCE_MS)).catch(() => {
      throw new CliError('nobody finished the sign-in within ten minutes', {
        hint: 'try again; without a browser on this computer add --device',
      });
    });
    return await createClient({ server }).post('/api/v2/auth/oidc/cli/token', { body: { code, verifier } });
  } finally {
    listener.close();
  }
}

/** Reports a refusal here, before a browser opens a page that refuses. */
async function refuseWithoutSignOn(url: string): Promise<void> {
  const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(30_000) }).catch(
    (error: unknown) => {
      throw new CliError('the control plane does not answer', { exitCode: EXIT.unreachable, cause: error });
    },
  );
  if (answer.status < 400) return;
  const problem = (await answer.json().catch(() => ({}))) as { detail?: string };
  throw new CliError(problem.detail ?? `single sign-on failed with status ${answer.status}`, {
    exitCode: answer.status >= 500 ? EXIT.unreachable : EXIT.denied,
  });
}

export async function signInWithDeviceCode(context: CliContext, { server }: { server: string }): Promise<Token> {
  const client = createClient({ server });
  const login = await client.post('/api/v2/auth/oidc/device');
  const complete = login.verification_uri_complete;
  context.stderr.write(
    `Open this page in any browser:\n  ${login.verification_uri}\nand type the code ${login.user_code}${complete === null ? '' : `, or open\n  ${complete}`}\n`,
  );
  const until = Date.now() + login.expires_in * 1_000;
  let seconds = login.interval;
  while (Date.now() < until) {
    await sleep(seconds * 1_000);
    const answer = await client.post('/api/v2/auth/oidc/device/token', { body: { handle: login.handle } });
    if ('access_token' in answer) return answer;
    if (answer.slow_down) seconds += SLOW_DOWN_SECONDS;
  }
  throw new CliError('nobody typed the code in time', { hint: 'try again: svc auth login --sso --device' });
}
