// Brings .cache/airflow-openapi-<version>: the OpenAPI documents of a real Airflow, public and of its web UI, out of the
// pinned package. A test checks our answers against them. Does nothing when they are there.
//
//   node packages/testing/airflow/openapi-document.ts # prints their folders

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackFromPackage } from '@svc/cli/setup/ui-bundle.ts';
import { UI_PACKAGES } from '@svc/web/bundle.ts';
import type { UiPackage } from '@svc/web/bundle.ts';
import { CACHE } from '../paths.ts';
import { clientEnvironment } from './client-environment.ts';

const INSIDE = 'airflow/api_fastapi/core_api/openapi/';

/** The documents of each version whose web UI can be served, oldest first: the folders with `v2-rest-api-generated.yaml` and `_private_ui.yaml`, by version. */
export async function airflowOpenApi(): Promise<{ version: string; folder: string }[]> {
  const found: { version: string; folder: string }[] = [];
  for (const distribution of Object.values(UI_PACKAGES)) {
    found.push({ version: distribution.version, folder: await documentsOf(distribution) });
  }
  return found;
}

/** Unpacked beside and renamed: never half of it. */
async function documentsOf(distribution: UiPackage): Promise<string> {
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
