import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Environment } from '../context.ts';
import { withRegistryLogin } from './registry-login.ts';
import type { LoginOptions } from './registry-login.ts';
import { ToolFailure } from './run-tool.ts';

const PASSWORD = 'pa ss"$(x)';
let home = '';
let env: Environment = {};
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-home-'));
  // Stands in for all three tools: notes how it was called, and stores the login where it was told to, as they do.
  for (const name of ['docker', 'podman', 'buildah']) {
    writeFileSync(
      join(home, name),
      `#!/bin/sh
       { echo "$@"; env; cat; } > ${home}/call
       [ -e ${home}/refuse ] && { echo "unauthorized: wrong password" >&2; exit 1; }
       echo '{"auths":{"written":{}}}' > "\${DOCKER_CONFIG:+$DOCKER_CONFIG/config.json}\${REGISTRY_AUTH_FILE:-}"`,
    );
    chmodSync(join(home, name), 0o755);
  }
  env = {
    PATH: `${home}:${process.env['PATH']}`,
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'run'),
    SVC_REGISTRY_USERNAME: 'robot$ci',
    SVC_REGISTRY_PASSWORD: PASSWORD,
    SVC_SECRET_KEY: 'k',
  };
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

const call = (): string => readFileSync(join(home, 'call'), 'utf8');
const logins = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('svc-login-') && name.includes(`-${process.pid}-`));

function putFile(path: string, value: unknown): string {
  const text = JSON.stringify(value);
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
  return text;
}

const withLogin = <Result>(options: Partial<LoginOptions>, use: (env: Environment) => Result): Promise<Result> =>
  withRegistryLogin(
    { tool: 'podman', method: 'environment', registry: 'r.example.com', env, ...options },
    async (given) => use(given),
  );

const ownFile = (given: Environment): string =>
  given['REGISTRY_AUTH_FILE'] ?? join(given['DOCKER_CONFIG'] ?? '', 'config.json');

describe('docker_config', () => {
  it('changes nothing, except that the tool does not see our secrets', async () => {
    const given = await withLogin({ method: 'docker_config' }, (toolEnv) => toolEnv);
    expect(given).toEqual({ PATH: env['PATH'], HOME: home, XDG_RUNTIME_DIR: env['XDG_RUNTIME_DIR'] });
    expect(existsSync(join(home, 'call'))).toBe(false);
  });
});

describe.each(['docker', 'podman', 'buildah'] as const)('environment with %s', (tool) => {
  it('logs in by standard input; the password is in no argument and in no environment', async () => {
    await withLogin({ tool }, () => {});
    const [argumentsLine = '', ...rest] = call().split('\n');
    expect(argumentsLine).toBe('login --username=robot$ci --password-stdin r.example.com');
    expect(rest.at(-1)).toBe(PASSWORD);
    expect(rest.slice(0, -1).join('\n')).not.toContain('pa ss');
    expect(rest.join('\n')).not.toContain('SVC_');
  });

  it('writes to a private file that is gone afterwards, and never to the own one', async () => {
    const before = putFile('.docker/config.json', { auths: { 'other.example.com': { auth: 'eA==' } } });
    const seen = await withLogin({ tool }, (given) => {
      const file = ownFile(given);
      return { text: readFileSync(file, 'utf8'), mode: statSync(dirname(file)).mode & 0o777, left: logins().length };
    });
    expect(seen).toEqual({ text: '{"auths":{"written":{}}}\n', mode: 0o700, left: 1 });
    expect(logins()).toEqual([]);
    expect(readFileSync(join(home, '.docker/config.json'), 'utf8')).toBe(before);
  });

  it('that is refused is a failure in the words of the tool, and leaves nothing', async () => {
    writeFileSync(join(home, 'refuse'), '');
    const failure = await withLogin({ tool }, () => 'used').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolFailure);
    expect(failure).toMatchObject({ lastLines: ['unauthorized: wrong password'] });
    expect(logins()).toEqual([]);
  });
});

describe('environment', () => {
  it('without both variables says which', async () => {
    for (const name of ['SVC_REGISTRY_USERNAME', 'SVC_REGISTRY_PASSWORD']) {
      await expect(withLogin({ env: { ...env, [name]: '' } }, () => {})).rejects.toThrow(
        /SVC_REGISTRY_USERNAME and SVC_REGISTRY_PASSWORD/,
      );
    }
  });

  it('does not log in when nothing is pushed', async () => {
    await withLogin({ registry: undefined }, () => {});
    expect(existsSync(join(home, 'call'))).toBe(false);
  });

  /** What the tool finds before it logs in: the stand-in overwrites it, so it is read from a tool that refuses to. */
  async function startingPoint(tool: 'docker' | 'podman'): Promise<{ config: unknown; names: string[] }> {
    const script = `#!/bin/sh\nf="\${REGISTRY_AUTH_FILE:-$DOCKER_CONFIG/config.json}"; cat "$f" > ${home}/seen; ls "$(dirname "$f")" > ${home}/names`;
    writeFileSync(join(home, tool), script);
    await withLogin({ tool }, () => {});
    return {
      config: JSON.parse(readFileSync(join(home, 'seen'), 'utf8')),
      names: readFileSync(join(home, 'names'), 'utf8').trim().split('\n'),
    };
  }

  it('keeps the logins for other registries, from which base images may come, and bypasses helpers for this one', async () => {
    const config = {
      auths: { 'other.example.com': { auth: 'eA==' } },
      credsStore: 'desktop',
      credHelpers: { 'r.example.com': 'pass', x: 'y' },
    };
    putFile('.docker/config.json', config);
    putFile('.docker/cli-plugins/docker-buildx', '');
    expect(await startingPoint('docker')).toEqual({
      config: { ...config, credHelpers: { 'r.example.com': '', x: 'y' } },
      names: ['cli-plugins', 'config.json'],
    });
    expect(await startingPoint('podman')).toEqual({
      config: { ...config, credHelpers: { x: 'y' } },
      names: ['config.json'],
    });
    expect(existsSync(join(home, '.docker/cli-plugins/docker-buildx'))).toBe(true);
  });

  it('starts from the file podman itself would read', async () => {
    putFile('.docker/config.json', { auths: { docker: {} } });
    putFile('.config/containers/auth.json', { auths: { home: {} } });
    expect((await startingPoint('podman')).config).toMatchObject({ auths: { home: {} } });
    putFile('run/containers/auth.json', { auths: { runtime: {} } });
    expect((await startingPoint('podman')).config).toMatchObject({ auths: { runtime: {} } });
    env = { ...env, DOCKER_CONFIG: join(home, '.docker') };
    expect((await startingPoint('podman')).config).toMatchObject({ auths: { docker: {} } });
    putFile('mine.json', { auths: { mine: {} } });
    env = { ...env, REGISTRY_AUTH_FILE: join(home, 'mine.json') };
    expect((await startingPoint('podman')).config).toMatchObject({ auths: { mine: {} } });
  });

  it('names the file when the own configuration is broken', async () => {
    mkdirSync(join(home, '.docker'));
    writeFileSync(join(home, '.docker/config.json'), '{');
    await expect(withLogin({ tool: 'docker' }, () => {})).rejects.toThrow(/\.docker\/config\.json is not valid JSON/);
  });
});

describe('none', () => {
  it.each(['docker', 'podman'] as const)('lets %s see no credentials at all', async (tool) => {
    putFile('.docker/config.json', {
      auths: { a: {} },
      credsStore: 'x',
      credHelpers: { b: 'c' },
      currentContext: 'remote',
    });
    const config = await withLogin(
      { tool, method: 'none' },
      (given) => JSON.parse(readFileSync(ownFile(given), 'utf8')) as unknown,
    );
    expect(config).toEqual({ currentContext: 'remote' });
    expect(existsSync(join(home, 'call'))).toBe(false);
  });
});
