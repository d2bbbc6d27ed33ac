// Writes the files that are made from the program itself: pages under docs/, the types of the client, a rule that Python
// shares. `--check` writes nothing and fails when one is stale, so that no change of a definition can leave its copy behind.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderCliReference } from '@svc/cli/reference.ts';
import { renderApiTypes } from '@svc/client/generate.ts';
import { renderComingFromAirflow } from '@svc/compiler/differences/reference.ts';
import { renderJsonSchema } from '@svc/server/config/json-schema.ts';
import { renderReference } from '@svc/server/config/reference/reference.ts';
import { renderGrants } from '@svc/server/db/grants/reference.ts';
import { renderOpenApi } from '@svc/server/openapi-document.ts';
import { renderMetrics } from '@svc/server/telemetry/work/reference.ts';
import { renderFailureCauses } from '@svc/spec/failure-causes.ts';
import { renderLogCodes } from '@svc/spec/log-codes/log-codes.ts';
import { renderPythonMaskingRules } from '@svc/spec/masking/rules.ts';
import { renderProjectReference } from '@svc/spec/project/reference.ts';
import { renderSpecReference } from '@svc/spec/reference.ts';
import { renderPythonModule } from '@svc/spec/sensitive-names.ts';
import { renderRunChanges, renderTaskChanges } from '@svc/spec/states/transitions.ts';
import { renderChartSchema } from './chart/schema.ts';
import { withParts } from './generated-parts.ts';

export interface DocGenerator {
  /** Relative to the repository. */
  readonly path: string;
  readonly render: () => string | Promise<string>;
}

const ARCHITECTURE = join(import.meta.dirname, '..', 'docs', 'architecture.md');

/** To generate another page, add a line. */
export const GENERATORS: readonly DocGenerator[] = [
  { path: 'docs/cli.md', render: renderCliReference },
  { path: 'docs/configuration.md', render: renderReference },
  { path: 'docs/configuration.schema.json', render: renderJsonSchema },
  { path: 'deploy/chart/values.schema.json', render: renderChartSchema },
  { path: 'docs/database-privileges.md', render: renderGrants },
  { path: 'docs/metrics.md', render: renderMetrics },
  { path: 'docs/openapi.json', render: renderOpenApi },
  { path: 'packages/client/generated/api.ts', render: async () => renderApiTypes(await renderOpenApi()) },
  { path: 'docs/coming-from-airflow.md', render: () => renderComingFromAirflow() },
  { path: 'docs/svc-yaml.md', render: renderProjectReference },
  { path: 'docs/compiled-spec.md', render: renderSpecReference },
  {
    path: 'docs/architecture.md',
    render: () => withParts(ARCHITECTURE, { 'task instances': renderTaskChanges, runs: renderRunChanges }),
  },
  { path: 'docs/failure-causes.md', render: renderFailureCauses },
  { path: 'docs/log-codes.md', render: renderLogCodes },
  { path: 'python/svc_runtime/run/sensitive_names.py', render: renderPythonModule },
  { path: 'python/svc_runtime/run/masking_rules.py', render: renderPythonMaskingRules },
];

export interface GenerateOptions {
  readonly root: string;
  readonly generators: readonly DocGenerator[];
  /** Only compare. */
  readonly check: boolean;
}

/** The paths whose content differs from what the program says; without `check` they have been rewritten. */
export async function generateDocs(options: GenerateOptions): Promise<string[]> {
  const { root, generators, check } = options;
  const stale: string[] = [];
  for (const { path, render } of generators) {
    const target = join(root, path);
    const content = await render();
    if (readIfPresent(target) === content) {
      continue;
    }
    stale.push(path);
    if (!check) {
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content);
    }
  }
  return stale;
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

async function main(): Promise<void> {
  const check = process.argv.includes('--check');
  const stale = await generateDocs({ root: join(import.meta.dirname, '..'), generators: GENERATORS, check });
  if (check && stale.length > 0) {
    console.error(`stale: ${stale.join(', ')}\nrun "npm run docs" and commit the result`);
    process.exitCode = 1;
  } else {
    console.log(stale.length === 0 ? 'docs are up to date' : `wrote ${stale.join(', ')}`);
  }
}

if (import.meta.main) {
  await main();
}
