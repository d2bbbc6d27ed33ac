import type { Token } from '@svc/client/wire-types.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import { createClient } from '../client/client.ts';
import type { Client } from '../client/client.ts';
import { connect, findServer, warnIfReadable, withClientOptions, withServerOption } from '../client/connect.ts';
import type { ClientCommandOptions, ServerOption } from '../client/connect.ts';
import { openCredentials } from '../client/credentials.ts';
import { readClaims } from '../client/token-claims.ts';
import { printJson, warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printFields } from '../output/fields.ts';
import { ask, canAsk, readStdin } from '../prompt.ts';
import { requirePassword, withPasswordOptions } from '../secret-input.ts';
import type { PasswordOptions } from '../secret-input.ts';
import { signInWithBrowser, signInWithDeviceCode } from '../sso/single-sign-on.ts';
import type { SvcCommand } from '../svc-command.ts';

type LoginOptions = ServerOption &
  PasswordOptions & {
    username?: string;
    tenant?: string;
    json?: true;
    sso?: true;
    device?: true;
    /** False with --no-browser. */
    browser: boolean;
  };

const withLoginOptions = (command: SvcCommand): SvcCommand =>
  withPasswordOptions(withServerOption(command), 'the password')
    .option('--username <email>', 'who logs in')
    .option('--tenant <name>', 'tenant of the user (default: default)')
    .option('--sso', 'by single sign-on, in the browser of this computer')
    .option('--device', 'by single sign-on, with a code that you type in any browser; where the provider has it')
    .option('--no-browser', 'with --sso: print the page to open, and open none')
    .option('--json', 'print JSON')
    .note('Without a password option the variable SVC_PASSWORD is read; at a terminal you are asked.');

export function addAuthCommands(program: SvcCommand, context: CliContext): void {
  const auth = program.command('auth').description('Log in and out, and make tokens for programs');
  withLoginOptions(auth.command('login'))
    .description('Log in and remember it for later commands')
    .example('asks for what is missing', 'svc auth login --server http://127.0.0.1:8088')
    .example('with the identity provider', 'svc auth login --sso --server https://flows.example.com')
    .action((options: LoginOptions) => login(context, options));

  withLoginOptions(auth.command('create-token'))
    .description('Print a token, for SVC_TOKEN and for other programs; nothing is stored')
    .note(
      'With none of these options the token is one of the stored login: it ends with that session. With any of them a new session begins.',
    )
    .example('for one shell', 'export SVC_TOKEN=$(svc auth create-token --username me@example.com)')
    .example(
      'from a file',
      'svc auth create-token --server https://flows.example.com --username ci@example.com --password-stdin < password.txt',
    )
    .action((options: LoginOptions) => createToken(context, options));

  withServerOption(auth.command('logout'))
    .description('End the stored session and forget its token')
    .action((options: ServerOption) => logout(context, options));

  withClientOptions(auth.command('whoami'))
    .description('Show who you are to the control plane')
    .action((options: ClientCommandOptions) => whoami(context, options));

  withServerOption(auth.command('password'))
    .description('Change your own password; ends all your sessions and logs in again')
    .note(
      'Without a terminal, standard input has the current password on its first line and the new one on its second.',
    )
    .action((options: ServerOption) => changePassword(context, options));
}

/**
 * Returns a token of the stored login, which ends with its session. Returns undefined without a stored login, or if the
 * options name another login.
 */
async function tokenOfLogin(context: CliContext, options: LoginOptions): Promise<Token | undefined> {
  const { username, password, passwordStdin, tenant, sso, device } = options;
  if ([username, password, passwordStdin, tenant, sso, device].some((given) => given !== undefined)) return undefined;
  const server = await findServer(context, options);
  const stored = openCredentials(context.env).find(server);
  if (stored === undefined) return undefined;
  warnIfReadable(context, server);
  try {
    return await createClient({ server, token: stored.token }).post('/api/v2/auth/token/renew');
  } catch (error) {
    if (canAsk(context)) return undefined; // the login has expired, and the user can log in again
    throw error;
  }
}

async function obtainToken(context: CliContext, options: LoginOptions): Promise<{ server: string; token: Token }> {
  const server = await findServer(context, options);
  warnIfReadable(context, server);
  if (options.sso || options.device) return { server, token: await singleSignOn(context, server, options) };
  const username = options.username ?? (await askUsername(context));
  const password = await requirePassword(context, { ...options, question: 'Password: ', fromEnvironment: true });
  const { tenant } = options;
  const body = { username, password, ...(tenant !== undefined && { tenant }) };
  return { server, token: await createClient({ server }).post('/auth/token', { body }) };
}

async function singleSignOn(context: CliContext, server: string, options: LoginOptions): Promise<Token> {
  const { username, tenant, password, passwordStdin, device } = options;
  if ([username, tenant, password, passwordStdin].some((given) => given !== undefined)) {
    throw usageError(
      'with single sign-on the identity provider says who you are: leave out username, password and tenant',
    );
  }
  return device
    ? signInWithDeviceCode(context, { server })
    : signInWithBrowser(context, { server, opensBrowser: options.browser });
}

async function askUsername(context: CliContext): Promise<string> {
  if (!canAsk(context)) throw usageError('who logs in? Give --username');
  const answer = (await ask(context, 'Username: ')).trim();
  if (answer === '') throw usageError('the username is empty');
  return answer;
}

async function login(context: CliContext, options: LoginOptions): Promise<void> {
  const { server, token } = await obtainToken(context, options);
  const credentials = openCredentials(context.env);
  credentials.save(server, { token: token.access_token });
  const claims = readClaims(token.access_token);
  if (options.json) {
    printJson(context, { server, email: claims?.email, tenant: claims?.tenant, roles: claims?.roles });
  } else {
    context.stdout.write(`Logged in to ${server} as ${claims?.email} (${claims?.roles.join(', ') || 'no roles'}).\n`);
  }
}

async function createToken(context: CliContext, options: LoginOptions): Promise<void> {
  const token = (await tokenOfLogin(context, options)) ?? (await obtainToken(context, options)).token;
  if (options.json) printJson(context, token);
  else context.stdout.write(`${token.access_token}\n`);
}

async function logout(context: CliContext, options: ServerOption): Promise<void> {
  const credentials = openCredentials(context.env);
  const server = await findServer(context, options);
  const stored = credentials.find(server);
  if (stored === undefined) {
    context.stdout.write(`There is no stored login for ${server}.\n`);
    return;
  }
  // The login is removed here whatever the server answers. A network problem must not keep a user logged in.
  credentials.forget(server);
  try {
    await endSession(server, stored.token);
  } catch (error) {
    warn(context, `the session on ${server} may live until its token expires: ${(error as Error).message}`);
  }
  context.stdout.write(`Logged out of ${server}.\n`);
}

/** The logout of the web UI: it ends the session of the token and redirects to the login page. */
async function endSession(server: string, token: string): Promise<void> {
  const response = await fetch(`${server}/api/v2/auth/logout`, {
    headers: { authorization: `Bearer ${token}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(10_000),
  });
  if (response.status >= 400) throw new Error(`status ${response.status}`);
}

async function whoami(context: CliContext, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  // Any call that needs a user will do. The claims mean nothing until the server has accepted the token.
  const { version } = await client.get('/api/v2/version');
  const claims = client.token === undefined ? undefined : readClaims(client.token);
  // The token of a service account contains no claims.
  const me = client.token !== undefined && claims === undefined ? await client.get('/ui/auth/me') : undefined;
  const expires = claims?.expiresAt === undefined ? null : new Date(claims.expiresAt * 1_000).toISOString();
  const facts = {
    server: client.server,
    server_version: version,
    email: claims?.email ?? me?.username ?? null,
    tenant: claims?.tenant ?? me?.tenant ?? null,
    roles: claims?.roles ?? me?.roles ?? [],
    token_expires: expires,
  };
  if (options.json) {
    printJson(context, facts);
    return;
  }
  printFields(context.stdout, [
    ['User', facts.email ?? '(no login needed)'],
    ['Tenant', facts.tenant],
    ['Roles', facts.roles.join(', ') || null],
    ['Server', `${client.server} (${version})`],
    ['Token expires', expires],
  ]);
}

async function changePassword(context: CliContext, options: ServerOption): Promise<void> {
  const client: Client = await connect(context, options);
  const claims = client.token === undefined ? undefined : readClaims(client.token);
  if (claims?.email === undefined) {
    throw new CliError('you are not logged in', { exitCode: EXIT.denied, hint: 'log in with: svc auth login' });
  }
  warnIfReadable(context, client.server);
  const [current, next] = await askPasswords(context);
  await client.post('/api/v2/auth/password', { body: { current_password: current, new_password: next } });
  const again = await createClient({ server: client.server }).post('/auth/token', {
    body: {
      username: claims.email,
      password: next,
      ...(claims.tenant !== undefined && { tenant: claims.tenant }),
    },
  });
  openCredentials(context.env).save(client.server, { token: again.access_token });
  context.stdout.write('Password changed. All other sessions of yours have ended.\n');
}

async function askPasswords(context: CliContext): Promise<[current: string, next: string]> {
  if (!canAsk(context)) {
    const [current = '', next = ''] = (await readStdin(context)).split(/\r?\n/);
    if (current === '' || next === '') {
      throw usageError('standard input must have two lines: the current password and the new one');
    }
    return [current, next];
  }
  const current = await ask(context, 'Current password: ', { hidden: true });
  return [current, await requirePassword(context, { question: 'New password: ', twice: true })];
}
