/**
 * Generated DAGs here, next to what Airflow 3.2.2 said about them (golden.ts). By day, 32 DAGs with all features; at night all
 * 200. differential.nightly.test.ts asks Airflow itself about 10,000.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { IS_NIGHTLY } from '../nightly.ts';
import { createTestDatabase } from '../postgres/test-database.ts';
import { pythonEnvironment } from '../python-environment.ts';
import { compareOutcomes } from './compare.ts';
import { generateDag } from './generate.ts';
import { RECORDED, readGolden } from './golden.ts';
import { renderDag } from './render.ts';
import { startHere } from './run-here.ts';

const ALL_MUST_END_WITHIN_MS = IS_NIGHTLY ? 1_800_000 : 600_000;
const DAGS = IS_NIGHTLY ? RECORDED : 32;
/** A worker keeps as many interpreters ready as there are DAGs in a lot; each is started once. */
const LOT = 8;

it(
  'features of DAG files that are combined at random end, return, render and call back as on Airflow',
  async () => {
    const golden = Object.entries(readGolden()).slice(0, DAGS);
    expect(golden).toHaveLength(DAGS);
    const dags = golden.map(([id]) => generateDag(Number(id.replace('fuzz_', ''))).dag);
    const folder = mkdtempSync(join(tmpdir(), 'svc-differential-'));
    const database = await createTestDatabase();
    try {
      copyFileSync(join(import.meta.dirname, 'fuzz_probe.py'), join(folder, 'fuzz_probe.py'));
      for (const dag of dags) writeFileSync(join(folder, `${dag.id}.py`), renderDag(dag));
      const here = await startHere({ databaseUrl: database.url, python: await pythonEnvironment(), folder });
      const differences: unknown[] = [];
      try {
        for (let at = 0; at < golden.length; at += LOT) {
          const lot = golden.slice(at, at + LOT);
          const found = await here.run(lot.map(([id]) => `${id}.py`));
          for (const [id, facts] of lot) {
            const outcome = found.get(`${id}.py`) ?? { broken: 'there is no outcome' };
            const unexplained = compareOutcomes(facts, outcome).filter(({ why }) => why === undefined);
            differences.push(...unexplained.map((difference) => ({ id, ...difference })));
          }
        }
      } finally {
        await here.stop();
      }
      expect(differences).toEqual([]);
    } finally {
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  ALL_MUST_END_WITHIN_MS,
);
