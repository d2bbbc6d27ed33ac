/**
 * The third-party packages that several packages of ours need, as one list for what is installed together. Each at the
 * very version of our lock file: svc is a program, not a library, so nothing is gained by sharing a newer one, and what
 * people run is what the tests ran with. What those packages need themselves stays a range, as they say it.
 */

export type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

export type LockFile = { readonly packages: Readonly<Record<string, { version?: string }>> };

/** Where the folder of each manifest is in the repository decides which version npm has given it. */
export type Located = { readonly folder: string; readonly manifest: Manifest };

export function mergeDependencies(
  packages: readonly Located[],
  field: 'dependencies' | 'optionalDependencies',
  lock: LockFile,
): Record<string, string> {
  const merged = new Map<string, { version: string; range: string; by: string }>();
  for (const { folder, manifest } of packages) {
    for (const [name, range] of Object.entries(manifest[field] ?? {})) {
      if (name.startsWith('@svc/')) continue;
      const version = lockedVersion(lock, folder, name);
      const other = merged.get(name);
      if (other && (other.version !== version || other.range !== range)) {
        throw new Error(
          `${other.by} wants ${name} ${other.range} (${other.version}) and ${manifest.name} ${range} (${version}): ` +
            'what is installed together has to agree',
        );
      }
      merged.set(name, { version, range, by: manifest.name });
    }
  }
  return Object.fromEntries(
    [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { version }]) => [name, version]),
  );
}

function lockedVersion(lock: LockFile, folder: string, name: string): string {
  const entry = lock.packages[`${folder}/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`];
  if (entry?.version === undefined)
    throw new Error(`${name}, which ${folder} needs, is not in the lock file: run npm install`);
  return entry.version;
}
