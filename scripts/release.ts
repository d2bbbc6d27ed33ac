// Sets the version of a release everywhere it is written: npm run release -- 0.7.0
//
// Committing, tagging and publishing are left to people; CONTRIBUTING.md says how.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const UNRELEASED = '## Unreleased\n';

/** The changelog with what was not released under the name of a version, and room for what comes next. */
export function nameRelease(changelog: string, version: string, date: string): string {
  const [before, after] = changelog.split(UNRELEASED);
  if (before === undefined || after === undefined) throw new Error('CHANGELOG.md has no section "Unreleased"');
  if (/^\s*(?:## |$)/.test(after)) throw new Error('CHANGELOG.md says of nothing that it is unreleased');
  return `${before}${UNRELEASED}\n## ${version} - ${date}\n${after}`;
}

/** Chart.yaml with the version of the chart and of what it installs, which are the same. */
export const setChartVersion = (chart: string, version: string): string =>
  chart.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`);

if (import.meta.main) {
  const [version = ''] = process.argv.slice(2);
  if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) throw new Error(`"${version}" is no version; use 0.7.0`);
  const changelog = join(ROOT, 'CHANGELOG.md');
  const named = nameRelease(readFileSync(changelog, 'utf8'), version, new Date().toISOString().slice(0, 10));
  const npm = (...argv: string[]): unknown => execFileSync('npm', argv, { cwd: ROOT, stdio: 'inherit' });
  npm('version', version, '--no-git-tag-version', '--workspaces', '--include-workspace-root', '--allow-same-version');
  writeFileSync(changelog, named);
  const chart = join(ROOT, 'deploy/chart/Chart.yaml');
  writeFileSync(chart, setChartVersion(readFileSync(chart, 'utf8'), version));
  npm('run', 'docs');
}
