// Brings .cache/airflow-openapi-<version>: the OpenAPI documents of a real Airflow, public and of its web UI, out of the
// pinned package. A test checks our answers against them. Does nothing when they are there.
//
//   node packages/testing/airflow/openapi-document.ts # prints their folders

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackFromPackage } from '@svc/cli/setup/ui-bundle.ts';
import { UI_BUNDLE } from '@svc/web/bundle.ts';
import { CACHE } from '../paths.ts';
import { clientEnvironment } from './client-environment.ts';

const INSIDE = 'airflow/api_fastapi/core_api/openapi/';

/** The versions whose clients and web UI must be able to read our answers, oldest first. */
const DISTRIBUTIONS = [
  UI_BUNDLE,
  {
    version: '3.3.2',
    requirement: 'apache-airflow-core==3.3.2',
    sha256: '99258922bccec15be4700ff89f3c942b8acd93407e263c287ce863e671bb3c50',
  },
] as const;
type Distribution = (typeof DISTRIBUTIONS)[number];

/** The folders with `v2-rest-api-generated.yaml` and `_private_ui.yaml`, by version. */
export async function airflowOpenApi(): Promise<{ version: string; folder: string }[]> {
  const found: { version: string; folder: string }[] = [];
  for (const distribution of DISTRIBUTIONS) {
    found.push({ version: distribution.version, folder: await documentsOf(distribution) });
  }
  return found;
}

/** Unpacked beside and renamed: never half of it. */
async function documentsOf(distribution: Distribution): Promise<string> {
  const target = join(CACHE, `airflow-openapi-${distribution.version}`);
  if (existsSync(target)) return target;
  const python = await clientEnvironment(); // any interpreter with pip
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(`${target}.building-`);
  try {
    await unpackFromPackage({ env: process.env, python, prefix: INSIDE, folder: work, distribution });
    await rename(join(work, INSIDE), target).catch((error: NodeJS.ErrnoException) => {
      if (!existsSync(target)) throw error; // otherwise another process was faster
    });
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

if (import.meta.main) for (const { folder } of await airflowOpenApi()) process.stdout.write(`${folder}\n`);
