import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nameRelease, setChartVersion } from './release.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const versionIn = (path: string): string => (JSON.parse(read(path)) as { version: string }).version;
const version = versionIn('package.json');

describe('the version', () => {
  it('is the same in every package and in the lock file', () => {
    const manifests = globSync('packages/*/package.json', { cwd: ROOT });
    expect(manifests.length).toBeGreaterThan(5);
    expect(manifests.filter((path) => versionIn(path) !== version)).toEqual([]);
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version?: string }> };
    const ours = Object.entries(packages).filter(([path]) => path === '' || /^packages\/[^/]+$/.test(path));
    expect(ours.length).toBe(manifests.length + 1);
    expect(ours.filter(([, entry]) => entry.version !== version)).toEqual([]);
  });

  it('is the newest one in the changelog, with a date', () => {
    const [newest] = read('CHANGELOG.md').match(/^## \d.*$/m) ?? [];
    expect(newest).toMatch(/^## \d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2}$/);
    expect(newest?.split(' ')[1]).toBe(version);
  });

  it('is that of the chart and of the image it installs', () => {
    const chart = read('deploy/chart/Chart.yaml');
    expect(setChartVersion(chart, version)).toBe(chart);
    expect(setChartVersion(chart, '9.8.7').match(/: 9\.8\.7$/gm)).toHaveLength(2);
  });

  it('is what the API document says it was built from', () => {
    expect(read('docs/openapi.json')).toContain(`(build ${version})`);
  });
});

describe('a changelog at a release', () => {
  const log = '# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n\n## 0.1.0 - 2026-01-01\n';

  it('names what was not released yet, and leaves room for what comes', () => {
    expect(nameRelease(log, '0.2.0', '2026-02-01')).toBe(
      log.replace('## Unreleased\n', '## Unreleased\n\n## 0.2.0 - 2026-02-01\n'),
    );
  });

  it('is refused when there is nothing to release', () => {
    const empty = '# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-01-01\n';
    expect(() => nameRelease(empty, '0.2.0', '2026-02-01')).toThrow(/nothing/);
    expect(() => nameRelease('# Changelog\n', '0.2.0', '2026-02-01')).toThrow(/no section/);
  });
});
