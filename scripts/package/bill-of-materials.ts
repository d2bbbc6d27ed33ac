/**
 * The bill of materials (SBOM) of what is released, as a CycloneDX 1.6 document: every package of others that is installed with
 * it, with version, licence and checksum from the lock file. The same input gives the same bytes.
 */
import { createHash } from 'node:crypto';

type LockedPackage = {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
};
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

export type Component = {
  type: 'library' | 'application';
  'bom-ref': string;
  name: string;
  version: string;
  purl: string;
  licenses: ({ license: { id: string } } | { expression: string })[];
  scope?: 'required' | 'optional';
  hashes?: { alg: 'SHA-512'; content: string }[];
};

export type BillOfMaterials = {
  bomFormat: 'CycloneDX';
  specVersion: '1.6';
  serialNumber: string;
  version: 1;
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
};

export type Part = { component: Component; dependsOn: string[] };
type Released = { name: string; version: string; license: string; ecosystem: 'npm' | 'pypi' };

export function billOfMaterials(
  released: Released,
  direct: readonly string[],
  parts: readonly Part[],
): BillOfMaterials {
  const { name, version, license, ecosystem } = released;
  const self = componentOf({ type: 'application', name, version, license, ecosystem });
  const ordered = parts.toSorted((a, b) => (a.component['bom-ref'] < b.component['bom-ref'] ? -1 : 1));
  const dependencies = [
    { ref: self['bom-ref'], dependsOn: direct.toSorted() },
    ...ordered.map(({ component, dependsOn }) => ({ ref: component['bom-ref'], dependsOn: dependsOn.toSorted() })),
  ];
  const components = ordered.map(({ component }) => component);
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([self, components, dependencies]))}`,
    version: 1,
    metadata: { component: self },
    components,
    dependencies,
  };
}

export function componentOf(of: {
  type?: Component['type'];
  name: string;
  version: string;
  license: string;
  ecosystem: 'npm' | 'pypi';
  integrity?: string | undefined;
  scope?: Component['scope'];
}): Component {
  const { type = 'library', name, version, license, ecosystem, integrity, scope } = of;
  const purl = `pkg:${ecosystem}/${name.replace('@', '%40')}@${version}`;
  return {
    type,
    'bom-ref': purl,
    name,
    version,
    purl,
    licenses: [/ (?:OR|AND) /.test(license) ? { expression: bare(license) } : { license: { id: license } }],
    ...(scope && { scope }),
    ...(integrity?.startsWith('sha512-') && { hashes: [{ alg: 'SHA-512', content: hexOf(integrity) }] }),
  };
}

const bare = (expression: string): string => expression.replace(/^\((.*)\)$/, '$1');

const hexOf = (integrity: string): string => Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');

/** A version 5 UUID in form: from the content, so that the same release has the same number. */
function uuidOf(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  const variant = ((Number.parseInt(hash.slice(16, 17), 16) & 3) | 8).toString(16);
  return [hash.slice(0, 8), hash.slice(8, 12), `5${hash.slice(13, 16)}`, variant + hash.slice(17, 20), hash.slice(20, 32)].join('-'); // prettier-ignore
}

/** A folder of the repository, and the packages that it needs. */
export type Needs = { folder: string; names: readonly string[]; isOptional?: boolean };

/** Everything that npm installs for these needs, by the lock file. */
export function npmParts(packages: LockedPackages, needs: readonly Needs[]): { direct: string[]; parts: Part[] } {
  const found = new Map<string, Part>();
  const direct = new Set<string>();

  function visit(from: string, name: string, isOptional: boolean): string | undefined {
    const path = locate(packages, from, name);
    const locked = path === undefined ? undefined : packages[path];
    if (path === undefined || locked?.version === undefined) {
      if (isOptional) return undefined;
      throw new Error(`${name}, which ${from} needs, is not in the lock file: run npm install`);
    }
    const known = found.get(path);
    if (known) {
      if (!isOptional) known.component.scope = 'required';
      return known.component['bom-ref'];
    }
    const { version, license, integrity } = locked;
    if (license === undefined) throw new Error(`${name} ${version} says no licence in the lock file`);
    const scope = isOptional ? 'optional' : 'required';
    const component = componentOf({ name, version, license, ecosystem: 'npm', integrity, scope });
    const part: Part = { component, dependsOn: [] };
    found.set(path, part);
    const below = (names: Readonly<Record<string, string>> = {}, optional: (name: string) => boolean): void => {
      for (const other of Object.keys(names)) {
        const ref = visit(path as string, other, isOptional || optional(other));
        if (ref !== undefined && !part.dependsOn.includes(ref)) part.dependsOn.push(ref);
      }
    };
    below(locked.dependencies, () => false);
    below(locked.optionalDependencies, () => true);
    below(locked.peerDependencies, (other) => locked.peerDependenciesMeta?.[other]?.optional === true);
    return component['bom-ref'];
  }

  for (const { folder, names, isOptional = false } of needs) {
    for (const name of names) {
      const ref = visit(folder, name, isOptional);
      if (ref !== undefined) direct.add(ref);
    }
  }
  // The same version may be installed in several places.
  const byRef = new Map<string, Part>();
  for (const part of found.values()) byRef.set(part.component['bom-ref'], part);
  return { direct: [...direct], parts: [...byRef.values()] };
}

/** Where Node finds a package from a folder: in the nearest node_modules. */
function locate(packages: LockedPackages, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[path]) return path;
    if (folder === '') return undefined;
  }
}
