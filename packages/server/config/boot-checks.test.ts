import { describe, expect, test } from 'vitest';
import { ROLE_NAMES } from '../auth/permissions.ts';
import { bootNotes, checkBoot } from './boot-checks.ts';
import { loadConfig } from './load.ts';
import { MAPPABLE_ROLES } from './oidc-checks.ts';

/** A configuration that boots without a word; each test changes one thing. */
const SOUND = { SVC_AUTH_JWT_SECRET: 'j'.repeat(32), SVC_SECRET_KEY: 'k'.repeat(32) };

type Flags = Record<string, string | string[]>;

function check(env: Record<string, string>, flags: Flags = {}): ReturnType<typeof checkBoot> {
  // What is not built yet is not a matter of how values fit together: not-built.test.ts.
  return checkBoot(loadConfig({ env: { ...SOUND, ...env }, flags }).config, {});
}

function errors(env: Record<string, string>, flags: Flags = {}): string[] {
  return check(env, flags).errors.map((problem) => problem.message);
}

test('a sound configuration has neither errors nor warnings', () => {
  expect(check({})).toEqual({ errors: [], warnings: [] });
});

test('what the default of auth.secret_liveness_mode means is said, as long as it is the default', () => {
  const notes = (env: Record<string, string>): string[] => bootNotes(loadConfig({ env: { ...SOUND, ...env } }).config);
  expect(notes({})).toEqual([expect.stringMatching(/^auth.secret_liveness_mode is observe: a task that is over/)]);
  expect(notes({ SVC_AUTH_SECRET_LIVENESS_MODE: 'enforce' })).toEqual([]);
});

test('that tasks can read what the server can is said where they run as its user', () => {
  const notes = (env: Record<string, string>): string[] =>
    bootNotes(loadConfig({ env: { ...SOUND, SVC_AUTH_SECRET_LIVENESS_MODE: 'enforce', ...env } }).config);
  const ours = [expect.stringMatching(/^tasks run as the user of this process and can read what it can/)];
  expect(notes({ SVC_EXECUTOR_TYPE: 'subprocess' })).toEqual(ours);
  expect(notes({ SVC_EXECUTOR_TYPE: 'subprocess', SVC_EXECUTOR_TASK_USER: 'root' })).toEqual(ours);
  expect(notes({ SVC_EXECUTOR_TYPE: 'subprocess', SVC_EXECUTOR_TASK_USER: 'svc-task' })).toEqual([]);
  expect(notes({})).toEqual([]); // in containers of their own
  expect(notes({ SVC_EXECUTOR_TYPE: 'subprocess', SVC_SERVER_ROLE: 'api', SVC_UI_EDITION: 'pro' })).toEqual([]); // runs none
});

test('declared secrets alone and processes that reach each other are a contradiction, which is said', () => {
  const warnings = (env: Record<string, string>): string[] =>
    checkBoot(loadConfig({ env: { ...SOUND, ...env } }).config).warnings.filter((text) => text.includes('isolation'));
  const enforced = { SVC_AUTH_SECRET_SCOPING: 'enforce', SVC_EXECUTOR_TYPE: 'subprocess' };
  expect(warnings(enforced)).toEqual([expect.stringMatching(/together: .*set SVC_EXECUTOR_ISOLATION=apart$/)]);
  expect(warnings({ ...enforced, SVC_EXECUTOR_ISOLATION: 'apart' })).toEqual([]);
  expect(warnings({ ...enforced, SVC_EXECUTOR_TYPE: 'orchestrator' })).toEqual([]);
  expect(warnings({ SVC_EXECUTOR_TYPE: 'subprocess' })).toEqual([]);
});

test('without a signing secret the boot stops and says how to make one', () => {
  const { errors: found } = checkBoot(loadConfig({ env: {} }).config);
  expect(found).toEqual([
    {
      key: 'auth.jwt.secret',
      message:
        'auth.jwt.secret is not set, and nothing can sign API and agent tokens without it; set SVC_AUTH_JWT_SECRET to at least 32 characters, for example the output of "openssl rand -hex 32"',
    },
  ]);
});

describe('single sign-on', () => {
  const OIDC = {
    SVC_AUTH_PROVIDER: 'oidc',
    SVC_UI_EDITION: 'pro',
    SVC_AUTH_OIDC_ISSUER: 'https://login.example.com/tenant',
    SVC_AUTH_OIDC_CLIENT_ID: 'svc',
    SVC_AUTH_OIDC_REDIRECT_URL: 'https://flows.example.com/api/v2/auth/oidc/callback',
    SVC_AUTH_OIDC_DEFAULT_ROLE: 'viewer',
  };

  test('boots when everything it needs is set', () => {
    expect(check(OIDC)).toEqual({ errors: [], warnings: [] });
  });

  test.each([
    ['auth.oidc.issuer', 'SVC_AUTH_OIDC_ISSUER'],
    ['auth.oidc.client_id', 'SVC_AUTH_OIDC_CLIENT_ID'],
    ['auth.oidc.redirect_url', 'SVC_AUTH_OIDC_REDIRECT_URL'],
  ])('stops the boot without %s', (key, variable) => {
    expect(check({ ...OIDC, [variable]: '' }).errors).toEqual([
      { key, message: `auth.provider is oidc but ${key} is not set; set ${variable}` },
    ]);
  });

  test.each(['', 'lite', 'Pro', 'enterprise'])('stops the boot when the edition is %j', (edition) => {
    expect(errors({ ...OIDC, SVC_UI_EDITION: edition })).toEqual([
      `auth.provider is oidc, which needs the pro edition, but ui.edition is "${edition}"; set SVC_UI_EDITION=pro, or SVC_AUTH_PROVIDER=jwt`,
    ]);
  });

  test('names every missing thing at once', () => {
    expect(check({ SVC_AUTH_PROVIDER: 'oidc' }).errors.map((problem) => problem.key)).toEqual([
      'auth.provider',
      'auth.oidc.issuer',
      'auth.oidc.client_id',
      'auth.oidc.redirect_url',
    ]);
  });

  test.each([
    'http://login.example.com',
    'http://localhost:9000',
    'login.example.com',
    'https://l.example.com/?a=b',
    'https://l.example.com/#x',
    'https://u:p@l.example.com',
  ])('refuses the issuer %s', (issuer) => {
    const [message, ...others] = errors({ ...OIDC, SVC_AUTH_OIDC_ISSUER: issuer });
    expect(message).toMatch(/^auth\.oidc\.issuer is ".*"; set SVC_AUTH_OIDC_ISSUER to an https URL without query/);
    expect(message).not.toContain('u:p@');
    expect(others).toEqual([]);
  });

  test.each([
    'http://localhost:8080/api/v2/auth/oidc/callback',
    'http://127.0.0.1:8080/api/v2/auth/oidc/callback',
    'http://[::1]:8080/api/v2/auth/oidc/callback',
    'https://flows.example.com/svc/api/v2/auth/oidc/callback',
  ])('accepts the redirect URL %s', (url) => {
    expect(errors({ ...OIDC, SVC_AUTH_OIDC_REDIRECT_URL: url })).toEqual([]);
  });

  test.each([
    'http://flows.example.com/api/v2/auth/oidc/callback',
    'http://localhost.example.com/api/v2/auth/oidc/callback',
    'http://0.0.0.0:8080/api/v2/auth/oidc/callback',
    'https://flows.example.com/callback',
    'https://flows.example.com/api/v2/auth/oidc/callback/',
    'https://flows.example.com/?x=/api/v2/auth/oidc/callback',
    'https://flows.example.com/#/api/v2/auth/oidc/callback',
    'javascript:/api/v2/auth/oidc/callback',
    '/api/v2/auth/oidc/callback',
  ])('refuses the redirect URL %s', (url) => {
    expect(errors({ ...OIDC, SVC_AUTH_OIDC_REDIRECT_URL: url })).toEqual([
      `auth.oidc.redirect_url is ${JSON.stringify(url)}; set SVC_AUTH_OIDC_REDIRECT_URL to an https URL (http only for a loopback host) whose path ends in /api/v2/auth/oidc/callback`,
    ]);
  });

  test('refuses a redirect URL with a password in it, and does not repeat the password', () => {
    const url = 'https://u:hunter2@flows.example.com/api/v2/auth/oidc/callback';
    const found = errors({ ...OIDC, SVC_AUTH_OIDC_REDIRECT_URL: url });
    expect(found).toHaveLength(1);
    expect(found[0]).not.toContain('hunter2');
  });

  test('refuses scopes without openid, which can never yield an ID token', () => {
    expect(errors(OIDC, { 'auth.oidc.scopes': 'email,profile' })).toEqual([
      'auth.oidc.scopes is "email profile"; add openid, without which the provider issues no ID token and nobody can log in',
    ]);
  });

  test('warns when default-deny would lock everybody out', () => {
    expect(check({ ...OIDC, SVC_AUTH_OIDC_DEFAULT_ROLE: '' }).warnings).toEqual([
      'auth.oidc.role_mappings and auth.oidc.default_role are both empty: single sign-on grants nobody a role',
    ]);
    expect(check({ ...OIDC, SVC_AUTH_OIDC_TENANT_CLAIM: 'tid' }).warnings).toEqual([
      'auth.oidc.tenant_claim is tid but auth.oidc.tenant_claims is empty: every login is rejected',
    ]);
  });

  test('refuses a map of tenants that nothing would be looked up in: all would be in the default tenant', () => {
    expect(errors(OIDC, { 'auth.oidc.tenant-claims': 'a=b' })).toEqual([
      'auth.oidc.tenant_claims is set but auth.oidc.tenant_claim is empty, so everybody would be in the default tenant; set SVC_AUTH_OIDC_TENANT_CLAIM to tid or hd',
    ]);
  });

  test('refuses roles that do not exist, and knows those that do', () => {
    expect(MAPPABLE_ROLES).toEqual([...ROLE_NAMES]);
    expect(errors(OIDC, { 'auth.oidc.role-mappings': 'ops=operater' })).toEqual([
      'auth.oidc.role_mappings maps "ops" to "operater", which is no role; use one of viewer, operator, editor, admin',
    ]);
    expect(errors({ ...OIDC, SVC_AUTH_OIDC_DEFAULT_ROLE: 'reader' })).toEqual([
      'auth.oidc.default_role is "reader", which is no role; set SVC_AUTH_OIDC_DEFAULT_ROLE to one of viewer, operator, editor, admin, or leave it empty',
    ]);
    expect(errors(OIDC, { 'auth.oidc.role-mappings': 'ops=operator' })).toEqual([]);
  });

  test.each(['common', 'organizations', 'consumers'])('refuses the issuer of all customers: %s', (directory) => {
    const issuer = `https://login.microsoftonline.com/${directory}/v2.0`;
    expect(errors({ ...OIDC, SVC_AUTH_OIDC_ISSUER: issuer })[0]).toContain('that of your own directory');
  });

  test('warns when the provider sends people to another prefix than the session is for', () => {
    const env = { ...OIDC, SVC_AUTH_OIDC_REDIRECT_URL: 'https://flows.example.com/svc/api/v2/auth/oidc/callback' };
    expect(check(env).warnings[0]).toContain('has another prefix');
    expect(check({ ...env, SVC_SERVER_BASE_URL: 'https://flows.example.com/svc' }).warnings).toEqual([]);
  });

  test('is not looked at while the provider is jwt', () => {
    const env = {
      SVC_AUTH_OIDC_ISSUER: 'http://x',
      SVC_AUTH_OIDC_REDIRECT_URL: 'nonsense',
      SVC_AUTH_OIDC_TENANT_CLAIM: 'tid',
    };
    expect(check(env)).toEqual({ errors: [], warnings: [] });
  });
});

describe('auth.dev_no_auth', () => {
  test.each(['127.0.0.1:8080', '127.9.9.9:8080', '[::1]:8080', 'localhost:8080'])(
    'boots on %s, with a warning',
    (address) => {
      expect(check({ SVC_AUTH_DEV_NO_AUTH: 'true', SVC_SERVER_HTTP_ADDR: address })).toEqual({
        errors: [],
        warnings: ['auth.dev_no_auth is on: every request is treated as admin'],
      });
    },
  );

  test.each(['0.0.0.0:8080', ':8080', '[::]:8080', '10.0.0.5:8080', 'svc.local:8080', '[::ffff:10.0.0.5]:80'])(
    'stops the boot on %s',
    (address) => {
      expect(errors({ SVC_AUTH_DEV_NO_AUTH: 'true', SVC_SERVER_HTTP_ADDR: address })).toEqual([
        `auth.dev_no_auth makes every caller an admin, and server.http_addr "${address}" can be reached from other machines; set SVC_SERVER_HTTP_ADDR to a loopback address such as 127.0.0.1:8080, or SVC_AUTH_DEV_NO_AUTH=false`,
      ]);
    },
  );
});

describe('the log store', () => {
  test.each(['objstore', 'cloudstore'])('%s without a bucket stops the boot', (backend) => {
    expect(check({ SVC_LOGS_BACKEND: backend }).errors).toEqual([
      {
        key: 'logs.sink.bucket',
        message: `logs.backend is ${backend}, which needs a bucket; set SVC_LOGS_SINK_BUCKET, or SVC_LOGS_BACKEND=disk`,
      },
    ]);
    expect(errors({ SVC_LOGS_BACKEND: backend, SVC_LOGS_SINK_BUCKET: 'logs' })).toEqual([]);
  });

  test('half of a pair of static credentials stops the boot', () => {
    const env = { SVC_LOGS_BACKEND: 'objstore', SVC_LOGS_SINK_BUCKET: 'logs' };
    const half = check({ ...env, SVC_LOGS_SINK_ACCESS_KEY_ID: 'AKIA' }).errors;
    expect(half.map((problem) => problem.key)).toEqual(['logs.sink.secret_access_key']);
    expect(half[0]?.message).toContain('SVC_LOGS_SINK_SECRET_ACCESS_KEY');
    expect(errors({ ...env, SVC_LOGS_SINK_ACCESS_KEY_ID: 'AKIA', SVC_LOGS_SINK_SECRET_ACCESS_KEY: 'x' })).toEqual([]);
  });

  test('static credentials are warned about, and settings of another backend', () => {
    const bucket = { SVC_LOGS_SINK_BUCKET: 'logs' };
    const keys = { SVC_LOGS_SINK_ACCESS_KEY_ID: 'AKIA', SVC_LOGS_SINK_SECRET_ACCESS_KEY: 'x' };
    const warned = (env: Record<string, string>) =>
      check({ ...bucket, ...env }).warnings.filter((warning) => warning.startsWith('logs.sink.'));
    expect(warned({ SVC_LOGS_BACKEND: 'objstore', ...keys })).toEqual([
      expect.stringMatching(/^logs.sink.access_key_id is a static credential/),
    ]);
    expect(warned({ SVC_LOGS_BACKEND: 'cloudstore', SVC_LOGS_SINK_CREDENTIALS_FILE: '/key.json' })).toEqual([
      expect.stringMatching(/^logs.sink.credentials_file is a static credential/),
    ]);
    expect(warned({ SVC_LOGS_BACKEND: 'cloudstore', SVC_LOGS_SINK_ENDPOINT: 'https://a' })).toEqual([
      'logs.sink.endpoint does nothing with logs.backend cloudstore',
    ]);
    expect(warned({ SVC_LOGS_SINK_FORCE_PATH_STYLE: 'true' })).toEqual([
      'logs.sink.force_path_style, logs.sink.bucket do nothing with logs.backend disk',
    ]);
    expect(warned({ SVC_LOGS_BACKEND: 'objstore', SVC_LOGS_SINK_REGION: 'eu' })).toEqual([]);
  });
});

describe('warm pools', () => {
  const ON = { SVC_EXECUTION_WARM_POOLS_ENABLED: 'true' };
  const EXCHANGE = { SVC_AUTH_AGENT_TOKEN_TRANSPORT: 'exchange' };
  const ENFORCE = { SVC_AUTH_SECRET_LIVENESS_MODE: 'enforce' };
  const noExchange =
    'execution.warm_pools_enabled requires auth.agent_token_transport to be exchange, but it is envvar; set SVC_AUTH_AGENT_TOKEN_TRANSPORT=exchange, or SVC_EXECUTION_WARM_POOLS_ENABLED=false';
  const noEnforce =
    'execution.warm_pools_enabled requires auth.secret_liveness_mode to be enforce, but it is observe; set SVC_AUTH_SECRET_LIVENESS_MODE=enforce, or SVC_EXECUTION_WARM_POOLS_ENABLED=false';

  const noPods =
    'execution.warm_pools_enabled requires executor.type to be orchestrator, but it is subprocess; set SVC_EXECUTOR_TYPE=orchestrator, or SVC_EXECUTION_WARM_POOLS_ENABLED=false';

  test.each([
    [{ ...ON, ...EXCHANGE, ...ENFORCE }, []],
    [{ ...ON, ...EXCHANGE }, [noEnforce]],
    [{ ...ON, ...ENFORCE }, [noExchange]],
    [ON, [noExchange, noEnforce]],
    [{ ...ON, ...EXCHANGE, ...ENFORCE, SVC_EXECUTOR_TYPE: 'subprocess' }, [noPods]],
    [{}, []],
  ])('%j', (env, expected) => {
    expect(errors(env)).toEqual(expected);
  });
});

describe('keys and certificates', () => {
  test('a malformed secret key stops the boot and is not repeated', () => {
    expect(errors({ SVC_SECRET_KEY: 'hunter2' })).toEqual([
      'secret_key (SVC_SECRET_KEY) is not a 32-byte key: it has 7 characters; give 32 characters, 64 hex digits, or the base64 of 32 bytes (openssl rand -hex 32)',
    ]);
    const previous = errors({ SVC_SECRET_KEY_PREVIOUS: `${'a'.repeat(64)},hunter2` });
    expect(previous).toHaveLength(1);
    expect(previous[0]).toMatch(
      /^secret_key_previous \(SVC_SECRET_KEY_PREVIOUS\) is not a 32-byte key: entry 2: it has 7/,
    );
  });

  test.each([
    ['SVC_SERVER_GRPC_TLS_CERT', 'server.grpc_tls.cert', 'SVC_SERVER_GRPC_TLS_KEY', 'server.grpc_tls.key'],
    ['SVC_SERVER_GRPC_TLS_KEY', 'server.grpc_tls.key', 'SVC_SERVER_GRPC_TLS_CERT', 'server.grpc_tls.cert'],
    ['SVC_SERVER_HTTP_TLS_CERT', 'server.http_tls.cert', 'SVC_SERVER_HTTP_TLS_KEY', 'server.http_tls.key'],
    ['SVC_SERVER_HTTP_TLS_KEY', 'server.http_tls.key', 'SVC_SERVER_HTTP_TLS_CERT', 'server.http_tls.cert'],
  ])('%s alone stops the boot instead of serving plaintext', (variable, key, otherVariable, otherKey) => {
    expect(check({ [variable]: '/tls/file.pem' }).errors).toEqual([
      {
        key: otherKey,
        message: `${key} is set but ${otherKey} is not, and TLS needs both; set ${otherVariable}, or clear ${variable}`,
      },
    ]);
    expect(errors({ [variable]: '/tls/a.pem', [otherVariable]: '/tls/b.pem' })).toEqual([]);
  });
});

describe('the role', () => {
  test.each(['api', 'scheduler'])('%s stops the boot in the lite edition only', (role) => {
    expect(errors({ SVC_SERVER_ROLE: role, SVC_UI_EDITION: 'lite' })).toEqual([
      `server.role is ${role}, but splitting the server is a pro feature and ui.edition is lite; set SVC_SERVER_ROLE=all, or SVC_UI_EDITION=pro`,
    ]);
    expect(errors({ SVC_SERVER_ROLE: role, SVC_UI_EDITION: 'pro' })).toEqual([]);
    expect(errors({ SVC_SERVER_ROLE: role })).toEqual([]);
  });

  test('all boots in the lite edition', () => {
    expect(errors({ SVC_UI_EDITION: 'lite' })).toEqual([]);
  });
});

describe('warnings', () => {
  test.each([
    [
      { SVC_EXECUTOR_DEFAULTS_RESOURCES_CPU: '250m' },
      'executor.defaults.resources.cpu is 250m but executor.defaults.resources.memory is not set: tasks without their own limits run with no memory bound; set SVC_EXECUTOR_DEFAULTS_RESOURCES_MEMORY',
    ],
    [
      { SVC_SECRET_KEY: '' },
      'secret_key is not set: connection writes are disabled; set SVC_SECRET_KEY (openssl rand -hex 32)',
    ],
    [
      { SVC_AUTH_JWT_SECRET: 'x'.repeat(31) },
      'auth.jwt.secret has fewer than 32 characters: it can be guessed offline from one token; set SVC_AUTH_JWT_SECRET to the output of "openssl rand -hex 32"',
    ],
    [
      { SVC_AUTH_SESSION_COOKIE_INSECURE: 'true' },
      'auth.session_cookie_insecure is on: the session cookie also travels over plain http',
    ],
    [
      { SVC_SERVER_TRUSTED_PROXIES: '10.0.0.0/8,10.0.0.1' },
      'server.trusted_proxies holds the broad range 10.0.0.0/8: a task running inside it can forge its client IP; scope it to the ingress',
    ],
    [
      { SVC_AUTH_BOOTSTRAP_EMAIL: 'admin@example.com' },
      'auth.bootstrap.password is not set: no first admin is created; set SVC_AUTH_BOOTSTRAP_PASSWORD',
    ],
    [
      { SVC_UI_EDITION: 'PRO' },
      'ui.edition is "PRO": no badge is shown and single sign-on stays unavailable; the editions are lite and pro',
    ],
  ])('%j warns and boots', (env, warning) => {
    expect(check(env)).toEqual({ errors: [], warnings: [warning] });
  });

  test('memory alone, or both, needs no warning', () => {
    const memory = { SVC_EXECUTOR_DEFAULTS_RESOURCES_MEMORY: '256Mi' };
    expect(check(memory).warnings).toEqual([]);
    expect(check({ ...memory, SVC_EXECUTOR_DEFAULTS_RESOURCES_CPU: '250m' }).warnings).toEqual([]);
  });
});

describe('the secrets backend', () => {
  const path = { SVC_SECRETS_BACKEND: 'a.Store' };
  const warnings = (env: Record<string, string>): readonly string[] => check(env).warnings;

  test.each(['connections_prefix', 'variables_prefix', 'connections_path', 'variables_path'])(
    'is asked with %s',
    (name) => {
      expect(warnings({ ...path, SVC_SECRETS_BACKEND_KWARGS: JSON.stringify({ [name]: '' }) })).toEqual([]);
    },
  );

  test.each(['', '{}', '{"connections_prefix": null, "region_name": "x"}'])(
    'that is never asked is warned about: %s',
    (kwargs) => {
      expect(warnings({ ...path, SVC_SECRETS_BACKEND_KWARGS: kwargs })).toEqual([
        expect.stringMatching(/^secrets.backend is a.Store, but .* it is never asked; set at least one/),
      ]);
    },
  );

  test('that is missing while it has arguments is warned about', () => {
    expect(warnings({ SVC_SECRETS_BACKEND_KWARGS: '{"variables_prefix":""}' })).toEqual([
      expect.stringMatching(/^secrets.backend_kwargs is set without secrets.backend/),
    ]);
  });
});
