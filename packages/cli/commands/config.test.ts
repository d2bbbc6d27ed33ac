import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';

let directory: string;
let file: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-config-'));
  file = join(directory, 'server.yaml');
  writeFileSync(file, 'server:\n  http_addr: 127.0.0.1:1\n  grpc_addr: 127.0.0.1:2\n  metrics_addr: 127.0.0.1:3\n');
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Shown = { values: { key: string; value: unknown; source: string; origin: string }[]; problems: { key: string }[] };

const SECRETS = {
  SVC_AUTH_JWT_SECRET: 'jwt-secret-jwt-secret-jwt-secret-1',
  SVC_SECRET_KEY: '0123456789abcdef0123456789abcdef',
  SVC_DATABASE_URL: 'postgres://svc:db-pass@db/svc',
};

describe('svc config', () => {
  it('shows the strongest of default, file, variable and flag, and where it came from', async () => {
    const { code, stdout } = await runSvc(
      [
        'config',
        '--json',
        '--config',
        file,
        '--server.grpc-addr',
        '127.0.0.1:20',
        '--server.metrics-addr=127.0.0.1:30',
      ],
      { env: { SVC_SERVER_HTTP_ADDR: '127.0.0.1:10', SVC_SERVER_GRPC_ADDR: '127.0.0.1:11' } },
    );
    expect(code).toBe(0);
    const { values } = JSON.parse(stdout) as Shown;
    const shown = (key: string) => {
      const { value, source, origin } = values.find((entry) => entry.key === key) ?? {};
      return [value, source, origin];
    };
    expect(shown('server.http_addr')).toEqual(['127.0.0.1:10', 'env', 'SVC_SERVER_HTTP_ADDR']);
    expect(shown('server.grpc_addr')).toEqual(['127.0.0.1:20', 'flag', '--server.grpc-addr']);
    expect(shown('server.metrics_addr')).toEqual(['127.0.0.1:30', 'flag', '--server.metrics-addr']);
    expect(shown('server.role')).toEqual(['all', 'default', 'built-in']);
    const fileOnly = await runSvc(['config', '--json', '--config', file], {});
    const entries = (JSON.parse(fileOnly.stdout) as Shown).values;
    expect(entries.find(({ key }) => key === 'server.http_addr')?.origin).toBe(`${file}:2:3`);
  });

  it.each([[[]], [['--json']]])('never prints a secret, whatever the form %j', async (options) => {
    const { stdout, stderr } = await runSvc(['config', ...options], { env: SECRETS });
    expect(stdout).toContain('***');
    expect(stdout).toContain('postgres://svc:***@db/svc');
    expect(stdout + stderr).not.toMatch(/jwt-secret-jwt|0123456789abcdef|db-pass/);
  });

  it('groups keys under headings for people', async () => {
    const { stdout } = await runSvc(['config'], { env: SECRETS });
    expect(stdout).toMatch(/^KEY +VALUE +FROM\n\nServer\nserver\.role +all +default\n/);
    expect(stdout).toMatch(/\nDatabase\ndatabase\.url +postgres:.* SVC_DATABASE_URL\n/);
  });

  it('tells what would stop a start: as a hint, or with --check as exit code 2', async () => {
    const hinted = await runSvc(['config'], {});
    expect(hinted.code).toBe(0);
    expect(hinted.stderr).toContain('hint: the control plane would not start');
    const checked = await runSvc(['config', '--check', '--json'], {});
    expect(checked.code).toBe(2);
    expect((JSON.parse(checked.stdout) as Shown).problems.map(({ key }) => key)).toEqual(['auth.jwt.secret']);
    expect((await runSvc(['config', '--check'], { env: SECRETS })).code).toBe(0);
    const redis = { SVC_REDIS_URL: 'rediss://:redis-pass@store', SVC_REDIS_CA_FILE: join(directory, 'none.pem') };
    const refused = await runSvc(['config', '--check'], { env: { ...SECRETS, ...redis } });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('redis.ca_file')]);
    expect(refused.stdout + refused.stderr).not.toMatch(/redis-pass|    at /);
    const files = { SVC_SERVER_HTTP_TLS_CERT: '/nowhere/tls.crt', SVC_SERVER_HTTP_TLS_KEY: '/nowhere/tls.key' };
    const unreadable = await runSvc(['config', '--check'], { env: { ...SECRETS, ...files } });
    expect(unreadable.code).toBe(2);
    expect(unreadable.stderr).toContain('server.http_tls.cert: /nowhere/tls.crt cannot be read: there is no such file');
  });

  it('reports every mistake of all sources at once, with exit code 2 and no stack', async () => {
    const { code, stderr } = await runSvc(['config', '--server.rol', 'x'], { env: { SVC_SERVER_ROLE: 'boss' } });
    expect(code).toBe(2);
    expect(stderr).toContain('did you mean --server.role?');
    expect(stderr).toContain('SVC_SERVER_ROLE: server.role is "boss"');
    expect(stderr).not.toContain('    at ');
  });

  it('does not mistake the variables of the command line for unknown keys', async () => {
    const { stderr } = await runSvc(['config'], {
      env: { ...SECRETS, SVC_HOME: '/x', SVC_PASSWORD: 'y', SVC_HOEM: 'z' },
    });
    expect(stderr).not.toContain('SVC_HOME"');
    expect(stderr).not.toContain('SVC_PASSWORD');
    expect(stderr).toContain('SVC_HOEM');
  });
});

describe('svc', () => {
  it.each([
    [[], 2],
    [['--help'], 0],
    [['--version'], 0],
    [['help', 'connections'], 0],
    [['nonsense'], 2],
    [['connections'], 2],
    [['connections', 'set'], 2],
    [['connections', 'list', '--nonsense'], 2],
    [['connections', 'list', 'excess'], 2],
    [['completion', 'tcsh'], 2],
    [['users', 'list', '--server.role', 'all'], 2],
    [['lite', '/nowhere/at/all'], 2],
    [['lite', '--port', '65536'], 2],
  ])('%j has exit code %i', async (argv, expected) => {
    expect((await runSvc(argv)).code).toBe(expected);
  });

  it('refuses with exit code 2 and in words what cannot be used, without a stack and without a value', async () => {
    const kwargs = '{"connections_prefix":"c","token":"store-token-0123"}';
    const env = {
      ...SECRETS,
      SVC_LOGS_DIR: join(file, 'logs'),
      SVC_SERVER_GRPC_TLS_CERT: join(directory, 'none.crt'),
      SVC_SERVER_GRPC_TLS_KEY: file,
      SVC_EXECUTION_WARM_POOLS_ENABLED: 'true',
      SVC_AUTH_AGENT_TOKEN_TRANSPORT: 'exchange',
      SVC_SECRETS_BACKEND: 'a.Store',
      SVC_SECRETS_BACKEND_KWARGS: kwargs,
    };
    const { code, stdout, stderr } = await runSvc(['config', '--check'], { env });
    expect(code).toBe(2);
    for (const key of ['logs.dir (SVC_', 'server.grpc_tls.', 'execution.warm_pools_enabled requires auth.secret_']) {
      expect(stderr).toContain(`  - ${key}`);
    }
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stdout + stderr).not.toContain('store-token-0123');
  });

  it('refuses arguments of the secrets backend that are no JSON object, and a backend that is no class path', async () => {
    const env = { ...SECRETS, SVC_SECRETS_BACKEND: 'Store', SVC_SECRETS_BACKEND_KWARGS: '{"token": store-token-0123}' };
    const { code, stderr } = await runSvc(['config', '--check'], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('secrets.backend_kwargs');
    expect(stderr).toContain('the path of a class, such as');
    expect(stderr).not.toContain('store-token-0123');
  });
});
