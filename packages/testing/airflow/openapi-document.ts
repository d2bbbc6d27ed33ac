// Brings .cache/airflow-openapi-3.2.2: the OpenAPI documents of the real Airflow, public and of its web UI, out of the
// same pinned package as the web UI. A test checks our answers against them. Does nothing when they are there.
//
//   node packages/testing/airflow/openapi-document.ts # prints their folder

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackFromPackage } from '@svc/cli/setup/ui-bundle.ts';
import { UI_BUNDLE } from '@svc/web/bundle.ts';
import { CACHE } from '../paths.ts';
import { clientEnvironment } from './client-environment.ts';

const TARGET = join(CACHE, `airflow-openapi-${UI_BUNDLE.version}`);
const INSIDE = 'airflow/api_fastapi/core_api/openapi/';

/** The folder with `v2-rest-api-generated.yaml` and `_private_ui.yaml`. Unpacked beside and renamed: never half of it. */
export async function airflowOpenApi(): Promise<string> {
  if (existsSync(TARGET)) return TARGET;
  const python = await clientEnvironment(); // any interpreter with pip
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(`${TARGET}.building-`);
  try {
    await unpackFromPackage({ env: process.env, python, prefix: INSIDE, folder: work });
    await rename(join(work, INSIDE), TARGET).catch((error: NodeJS.ErrnoException) => {
      if (!existsSync(TARGET)) throw error; // otherwise another process was faster
    });
    return TARGET;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

if (import.meta.main) process.stdout.write(`${await airflowOpenApi()}\n`);
