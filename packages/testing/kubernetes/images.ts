/** Images in the cluster's registry, and the tools to put others there. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '@svc/cli/version.ts';
import { toolEnvironment } from '../build/tool-environment.ts';
import { REGISTRY } from './cluster.ts';

/** The line of Python that the base image in the registry has. */
export const PYTHON_LINE = '3.11';
/** As `executor.base_image_repository`. */
export const BASE_REPOSITORY = `${REGISTRY}/svc-base`;
export const BASE_IMAGE = `${BASE_REPOSITORY}:${PYTHON_LINE}-${VERSION}`;
export const CONTROL_PLANE_IMAGE = `${REGISTRY}/svc-control-plane:${VERSION}`;

export type ImageTools = Disposable & {
  /** For `svc deploy` and podman: an image store of their own, and the registry trusted over plain HTTP. */
  readonly env: Readonly<Record<string, string>>;
  /** Builds a build file's text, which may copy from the folder, and pushes it; the reference by digest. */
  readonly pushImage: (name: string, buildFile: string, folder?: string) => string;
};

/** Removed with everything in it when disposed. */
export function makeImageTools(): ImageTools {
  const directory = mkdtempSync(join(tmpdir(), 'svc-images-'));
  const env = toolEnvironment({ directory, registries: [REGISTRY], driver: 'overlay' });
  const podman = (...words: string[]): string =>
    execFileSync('podman', words, { env, cwd: directory, encoding: 'utf8', stdio: 'pipe' });
  return {
    env,
    pushImage(name, buildFile, folder = '.') {
      const image = `${REGISTRY}/${name}`;
      const [file, digest] = [join(directory, 'Dockerfile'), join(directory, 'digest')];
      writeFileSync(file, buildFile);
      podman('build', `--file=${file}`, `--tag=${image}`, folder);
      podman('push', `--digestfile=${digest}`, image);
      return `${image.replace(/:[^:/]+$/, '')}@${readFileSync(digest, 'utf8').trim()}`;
    },
    [Symbol.dispose]() {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
