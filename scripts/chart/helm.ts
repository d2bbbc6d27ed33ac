/** Helm, as it is in the path of `npm run test:kubernetes`, on our chart. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '@svc/testing/paths.ts';

export const CHART = join(ROOT, 'deploy/chart');
/** Told to helm where it asks no cluster. */
const KUBERNETES = '1.34.0';

export type Values = Readonly<Record<string, unknown>>;

/** What the tests look at of a manifest. */
export type Manifest = {
  kind: string;
  metadata: { name: string; namespace?: string; annotations?: Record<string, string>; labels: Record<string, string> };
  // oxlint-disable-next-line typescript/no-explicit-any -- of many kinds, whose types would say nothing about what was rendered
  [part: string]: any;
};

const run = promisify(execFile);

/** Runs with `--values`; the standard output. Throws with what helm says. */
export async function helm(words: readonly string[], values: Values = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-helm-'));
  const file = join(folder, 'values.yaml');
  writeFileSync(file, JSON.stringify(values));
  const takesValues = ['install', 'upgrade', 'template', 'lint'].includes(words[0] ?? '');
  try {
    const { stdout } = await run('helm', [...words, ...(takesValues ? ['--values', file] : [])], {
      maxBuffer: 32 * 1_024 * 1_024,
    });
    return stdout;
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string };
    throw new Error(`helm ${words.join(' ')}: ${stdout}${stderr}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const lint = (values: Values): Promise<string> =>
  helm(['lint', '--strict', '--kube-version', KUBERNETES, CHART], values);

/** Of a release `demo` in the namespace `flows`. */
export async function render(values: Values): Promise<Manifest[]> {
  const text = await helm(
    ['template', 'demo', CHART, '--namespace', 'flows', '--kube-version', KUBERNETES, '--include-crds'],
    values,
  );
  // 1.1, as Kubernetes reads it.
  return parseAllDocuments(text, { version: '1.1' }).flatMap((document) => {
    const manifest: unknown = document.toJS();
    return manifest ? [manifest as Manifest] : [];
  });
}

export const ofKind = (manifests: readonly Manifest[], kind: string): Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);

export function named(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = ofKind(manifests, kind).find(({ metadata }) => metadata.name === name);
  if (!found) {
    throw new Error(
      `no ${kind} ${name}; there is ${ofKind(manifests, kind)
        .map(({ metadata }) => metadata.name)
        .join(', ')}`,
    );
  }
  return found;
}
