import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findContainerTool } from './container-tool.ts';

let bin = '';
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'svc-tools-'));
});
afterEach(() => {
  rmSync(bin, { recursive: true });
});

/** A machine on which only these programs exist. Each is a shell script body; `$*` are its arguments. */
function machineWith(programs: Record<string, string>): { env: { PATH: string } } {
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { env: { PATH: bin } };
}

const DOCKER = 'case "$1" in version) echo 28.2.2 ;; buildx) echo buildx v0.13 ;; esac';
const NO_ENGINE = 'echo "Cannot connect to the Docker daemon" >&2; exit 1';
const NO_BUILDX = 'case "$1" in version) echo 20.10 ;; *) echo "unknown command" >&2; exit 1 ;; esac';
const PODMAN = 'echo 5.4.0';
const BUILDAH = 'case "$1" in --version) echo "buildah version 1.28.2 (image-spec 1.1)" ;; info) echo "{" ;; esac';

describe('the container tool', () => {
  it('is docker before podman before buildah', async () => {
    const all = machineWith({ docker: DOCKER, podman: PODMAN, buildah: BUILDAH });
    expect(await findContainerTool(all)).toEqual({ name: 'docker', version: '28.2.2' });
  });

  it('is not a Docker client whose engine does not answer', async () => {
    expect(await findContainerTool(machineWith({ docker: NO_ENGINE, podman: PODMAN }))).toEqual({
      name: 'podman',
      version: '5.4.0',
    });
  });

  it('is not a Docker without buildx, which would not see our ignore file', async () => {
    const machine = machineWith({ docker: NO_BUILDX, podman: 'exit 125', buildah: BUILDAH });
    expect(await findContainerTool(machine)).toEqual({ name: 'buildah', version: '1.28.2' });
  });

  it('is the one asked for, or none: another is not taken silently', async () => {
    const machine = machineWith({ docker: DOCKER, podman: PODMAN });
    expect(await findContainerTool({ ...machine, wanted: 'podman' })).toMatchObject({ name: 'podman' });
    await expect(findContainerTool({ ...machine, wanted: 'buildah' })).rejects.toThrow(
      'buildah cannot build the image:\n  - buildah: not installed',
    );
  });

  it('that cannot be found is reported with the reason for each', async () => {
    const machine = machineWith({ docker: NO_ENGINE, podman: 'echo "no space left" >&2; exit 125' });
    await expect(findContainerTool(machine)).rejects.toMatchObject({
      exitCode: 2,
      message:
        'no container tool can build the image:\n' +
        '  - docker: Cannot connect to the Docker daemon\n' +
        '  - podman: no space left\n' +
        '  - buildah: not installed',
      hint: expect.stringContaining('Install podman'),
    });
  });

  it('is not looked for once the user has stopped the command', async () => {
    const machine = machineWith({ docker: DOCKER });
    await expect(findContainerTool({ ...machine, signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow(
      'stopped',
    );
  });
});
