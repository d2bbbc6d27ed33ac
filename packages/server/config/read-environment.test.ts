import { describe, expect, test } from 'vitest';
import { readEnvironment } from './read-environment.ts';

describe('variables that are not ours', () => {
  test.each([
    ['SVC_SERVER_HTP_ADDR', 'SVC_SERVER_HTTP_ADDR'],
    ['SVC_HTTP_ADDR', 'SVC_SERVER_HTTP_ADDR'],
    ['SVC_HTTP_ADR', 'SVC_SERVER_HTTP_ADDR'],
    ['SVC_JWT_SECRET', 'SVC_AUTH_JWT_SECRET'],
    ['SVC_SECRETKEY', 'SVC_SECRET_KEY'],
    ['SVC_DATABASE_DSN', 'SVC_DATABASE_URL'],
    ['SVC_auth_provider', 'SVC_AUTH_PROVIDER'],
  ])('%s is reported with %s', (variable, nearest) => {
    expect(readEnvironment({ [variable]: 'x' })).toEqual({
      settings: [],
      problems: [],
      warnings: [`unknown variable "${variable}" is ignored; did you mean ${nearest}?`],
    });
  });

  test('the value of an unknown variable is not repeated: it may be a secret', () => {
    expect(readEnvironment({ SVC_AUTH_JWT_SECRE: 'hunter2' }).warnings.join()).not.toContain('hunter2');
  });

  test('variables of our other programs and of other products are left alone', () => {
    const env = {
      SVC_CONFIG: '/etc/server.yaml',
      SVC_TOKEN: 'x',
      SVC_SERVER_URL: 'http://127.0.0.1:8080',
      SVC_MCP_TRANSPORT: 'http',
      SVC_MCP_LISTEN: ':9099',
      SVC_AGENT_TOKEN: 'x',
      SVC_AGENT_MAX_INTERPRETER_GROWTH_MB: '64',
      SVC_SECRETS_SOMETHING: 'x',
      PATH: '/bin',
      SVCX: '1',
    };
    expect(readEnvironment(env)).toEqual({ settings: [], problems: [], warnings: [] });
  });

  test('what Kubernetes says about the services svc and svc-api is not reported', () => {
    const env = {
      SVC_SERVICE_HOST: '10.96.0.12',
      SVC_SERVICE_PORT: '8080',
      SVC_SERVICE_PORT_HTTP: '8080',
      SVC_PORT: 'tcp://10.96.0.12:8080',
      SVC_PORT_8080_TCP: 'tcp://10.96.0.12:8080',
      SVC_PORT_8080_TCP_PROTO: 'tcp',
      SVC_PORT_8080_TCP_PORT: '8080',
      SVC_PORT_8080_TCP_ADDR: '10.96.0.12',
      SVC_API_SERVICE_HOST: '10.96.0.13',
      SVC_API_PORT_9091_TCP_ADDR: '10.96.0.13',
    };
    expect(readEnvironment(env).warnings).toEqual([]);
  });

  test('a port a person wrote is still reported', () => {
    expect(readEnvironment({ SVC_PORT: '8080', SVC_SERVER_PORT: '8080' }).warnings).toHaveLength(2);
  });
});

describe('lists and maps', () => {
  test('trusted proxies come comma-separated', () => {
    expect(readEnvironment({ SVC_SERVER_TRUSTED_PROXIES: '10.0.0.1, 10.1.0.0/16' }).settings).toEqual([
      {
        key: 'server.trusted_proxies',
        raw: { kind: 'list', items: ['10.0.0.1', ' 10.1.0.0/16'] },
        source: 'env',
        origin: 'SVC_SERVER_TRUSTED_PROXIES',
      },
    ]);
  });

  test.each([
    [
      'SVC_SERVER_CORS_ALLOWED_ORIGINS',
      'a list from the configuration file or from flags (--server.cors.allowed-origins a,b), not from the environment',
    ],
    [
      'SVC_AUTH_OIDC_ROLE_MAPPINGS',
      'a map from the configuration file or from flags (--auth.oidc.role-mappings name=value), not from the environment',
    ],
  ])('%s is refused, with the place where it belongs', (variable, allowed) => {
    const { settings, problems } = readEnvironment({ [variable]: 'x' });
    expect(settings).toEqual([]);
    expect(problems.map((problem) => problem.allowed)).toEqual([allowed]);
  });
});

test('an empty or blank variable counts as not set, for every type', () => {
  const env = {
    SVC_SERVER_ROLE: '',
    SVC_AUTH_DEV_NO_AUTH: ' ',
    SVC_AUTH_OIDC_SCOPES: '',
    SVC_NO_SUCH: '',
    SVC_X: undefined,
  };
  expect(readEnvironment(env)).toEqual({ settings: [], problems: [], warnings: [] });
});
