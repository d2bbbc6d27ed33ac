/** What makes container tools keep to a folder: their own image store, registries and logins instead of the machine's. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export type ToolEnvironmentOptions = {
  readonly directory: string;
  /** Those that speak plain HTTP. */
  readonly registries: readonly string[];
  /** vfs works everywhere; overlay shares the layers of large images. */
  readonly driver: 'vfs' | 'overlay';
};

export const TOOLS_PATH = `${process.env['PATH']}:/usr/sbin:/sbin`;

export function toolEnvironment({ directory, registries, driver }: ToolEnvironmentOptions): Record<string, string> {
  const storage = `[storage]\ndriver = "${driver}"\ngraphroot = "${directory}/store"\nrunroot = "${directory}/run"\n`;
  writeFileSync(join(directory, 'storage.conf'), storage);
  const plain = registries.map((location) => `[[registry]]\nlocation = "${location}"\ninsecure = true\n`);
  writeFileSync(join(directory, 'registries.conf'), plain.join(''));
  return {
    ...dockerEnvironment(join(directory, 'docker')),
    PATH: TOOLS_PATH,
    HOME: directory,
    CONTAINERS_STORAGE_CONF: join(directory, 'storage.conf'),
    CONTAINERS_REGISTRIES_CONF: join(directory, 'registries.conf'),
    // Commands of a build run without cgroups and namespaces of their own, which containers around us may not give out.
    BUILDAH_ISOLATION: 'chroot',
    // With vfs each layer is a copy of the whole file system, and podman makes one for each step unless told otherwise.
    ...(driver === 'vfs' && { BUILDAH_LAYERS: 'false' }),
  };
}

/** The machine's engine and plugins, but none of its logins. */
function dockerEnvironment(directory: string): Record<string, string> {
  const own = process.env['DOCKER_CONFIG'] ?? join(homedir(), '.docker');
  mkdirSync(directory);
  writeFileSync(join(directory, 'config.json'), '{}');
  for (const name of ['cli-plugins', 'contexts']) {
    if (existsSync(join(own, name))) symlinkSync(join(own, name), join(directory, name));
  }
  const host = process.env['DOCKER_HOST'];
  return { DOCKER_CONFIG: directory, ...(host !== undefined && { DOCKER_HOST: host }) };
}
