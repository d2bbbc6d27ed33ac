/** A workspace is read by a thread of its own, so no file in it can hold up a control plane. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { DiscoverError } from '../discover.ts';
import { createReadingThread } from './reading-thread.ts';
import { readHere } from './workspace-reader.ts';
import type { WorkspaceReader } from './workspace-reader.ts';

const DAG = 'from airflow.sdk import DAG\nDAG("a")\n';

describe('the thread that reads a workspace', () => {
  let reader: WorkspaceReader;
  beforeAll(() => {
    reader = createReadingThread();
    return () => reader.close();
  });

  it('finds the same units and settings as reading in place', async () => {
    const root = workspaceOf({
      'repository/dags/a.py': DAG,
      'repository/requirements.txt': 'pandas',
      'project/svc.yaml': 'dag_id: shop\nconnectors: [1]\n',
      'good/svc.yaml': 'dag_id: good\npython_version: 3.10\ntasks: { load: { retries: 2 } }\n',
    });
    const units = await reader.units(root);
    expect(units).toEqual(await readHere.units(root));
    expect(units.map(({ name }) => name)).toEqual(['good', 'project', 'repository/dags/a.py']);
    for (const unit of units.slice(0, 2)) expect(await reader.project(unit)).toEqual(await readHere.project(unit));
  });

  it('says that there is nothing to look at, as reading in place does', async () => {
    await expect(reader.units(join(workspaceOf({}), 'nowhere'))).rejects.toThrow(DiscoverError);
  });
});

describe('a file that takes too long', () => {
  let reader: WorkspaceReader | undefined;
  afterEach(() => reader?.close());

  it('is named, and the next call is answered by another thread', async () => {
    reader = createReadingThread({ fileMs: 3_000 });
    const slow = workspaceOf({
      'dags/.airflowignore': '(a+)+$',
      'airflow.cfg': '[core]\ndag_ignore_file_syntax = regexp\n',
      [`dags/${'a'.repeat(60)}!.py`]: DAG,
    });
    mkdirSync(join(slow, 'config'));
    await expect(reader.units(slow)).rejects.toThrow(/\.airflowignore cannot be read: reading it took more than 3 s/);
    const good = workspaceOf({ 'good/svc.yaml': 'dag_id: good\n' });
    expect((await reader.units(good)).map(({ name }) => name)).toEqual(['good']);
  });
});
