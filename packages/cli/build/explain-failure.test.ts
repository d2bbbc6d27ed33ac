import { describe, expect, it } from 'vitest';
import { explainFailure } from './explain-failure.ts';
import type { FailureContext } from './explain-failure.ts';
import { ToolFailure } from './run-tool.ts';

const context: FailureContext = {
  step: 'build',
  image: 'r.example.com/orders:v1',
  baseImage: 'svc-base:3.11-0.5.0',
  project: {
    python_version: '3.11',
    registry: { auth_method: 'docker_config', tag_strategy: 'version', url: 'r.example.com' },
  },
  platforms: ['linux/amd64', 'linux/arm64'],
  today: '2026-11-15',
};

function explain(output: string, change: Partial<FailureContext> = {}): { message: string; hint: string | undefined } {
  const failure = new ToolFailure('podman build ended with exit code 125', { lastLines: output.split('\n') });
  const { message, hint } = explainFailure(failure, { ...context, ...change });
  return { message, hint };
}

describe('a failed build', () => {
  it("quotes the tool's last lines, and no more of them than a person reads", () => {
    const output = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join('\n');
    const { message, hint } = explain(output);
    expect(message.split('\n')[0]).toBe(
      'building r.example.com/orders:v1 failed: podman build ended with exit code 125',
    );
    expect(message.split('\n').slice(1)).toEqual(Array.from({ length: 15 }, (_, index) => `  line ${index + 16}`));
    expect(hint).toBeUndefined();
  });

  // As docker (BuildKit), podman and buildah say it.
  const PULL_FAILURES = [
    'ERROR: failed to solve: IMAGE: failed to resolve source metadata for docker.io/library/IMAGE: pull access denied, repository does not exist',
    'Error: creating build container: short-name "IMAGE" did not resolve to an alias and no unqualified-search registries are defined',
    'Error: creating build container: initializing source docker://IMAGE: reading manifest 3 in r.example.com/svc-base: manifest unknown',
  ];

  it.each(PULL_FAILURES)('at the pull of a line that is no longer published says so: %s', (output) => {
    const baseImage = 'svc-base:3.10-0.5.0';
    const { hint } = explain(output.replaceAll('IMAGE', baseImage), {
      baseImage,
      project: { ...context.project, python_version: '3.10' },
    });
    expect(hint).toBe(
      'There is no base image svc-base:3.10-0.5.0: images for Python 3.10 were published until 2026-10-31. Set python_version to 3.11 or later.',
    );
  });

  it.each(PULL_FAILURES)('at the pull of a published line points at the registry: %s', (output) => {
    expect(explain(output.replaceAll('IMAGE', 'svc-base:3.11-0.5.0')).hint).toMatch(
      /^The base image svc-base:3.11-0.5.0 could not be pulled/,
    );
  });

  it('at the pull of an own base points at base_image: python_version would not help', () => {
    const project = { ...context.project, base_image: 'r.example.com/base:3.10' };
    const { hint } = explain('Error: initializing source docker://r.example.com/base:3.10: manifest unknown', {
      project,
      baseImage: project.base_image,
    });
    expect(hint).toMatch(/Check base_image/);
  });

  it('that has nothing to do with the base does not blame it', () => {
    expect(explain('ERROR: No matching distribution found for pandsa\nERROR: pandsa not found').hint).toBeUndefined();
    expect(explain('manifest unknown', { baseImage: undefined }).hint).toBeUndefined();
    const baseImage = 'r.example.com:5000/svc-base:3.11-0.5.0';
    const packages = `STEP 1/9: FROM ${baseImage}\nErr:3 http://r.example.com:8080/apt ./ Packages 404  Not Found`;
    expect(explain(packages, { baseImage }).hint).toBeUndefined();
    const pull = `Error: creating build container: initializing source docker://${baseImage}: manifest unknown`;
    expect(explain(pull, { baseImage }).hint).toMatch(/could not be pulled.*--base-repository/);
  });

  it('for a platform this machine cannot run names emulation', () => {
    expect(explain('exec /bin/sh: exec format error').hint).toMatch(/linux\/amd64, linux\/arm64.*emulation/);
  });

  it('because the Docker builder makes one platform at a time says how to get another builder', () => {
    expect(explain('ERROR: Multi-platform build is not supported for the docker driver.').hint).toMatch(
      /buildx create/,
    );
  });
});

describe('a failed push or login', () => {
  it.each([
    ['docker_config', /docker login/],
    ['environment', /SVC_REGISTRY_PASSWORD/],
    ['none', /docker_config or environment/],
  ] as const)('with %s says where the credentials come from', (method, hint) => {
    const project = { ...context.project, registry: { ...context.project.registry, auth_method: method } };
    for (const step of ['push', 'login'] as const) {
      expect(explain('Error: unauthorized: authentication required', { step, project }).hint).toMatch(hint);
    }
  });

  it('in the one command with which docker builds and pushes is told from a failed build', () => {
    const pushed = '#8 pushing r.example.com/orders:v1 with docker\n#8 ERROR: no basic auth credentials';
    expect(explain(pushed).hint).toMatch(/refuses the credentials/);
    expect(explain('#8 ERROR: 403 Forbidden for https://pypi.example.com/simple').hint).toBeUndefined();
  });

  it('because nobody answers points at registry.url', () => {
    expect(explain('dial tcp: lookup r.example.com: no such host', { step: 'push' }).hint).toMatch(
      /registry\.url \(r\.example\.com\)/,
    );
  });
});
