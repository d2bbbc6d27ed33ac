/**
 * Repositories as the documentation of products and tools lays them out: every file that Airflow 3.2.2 loads must load here, as the
 * same DAGs. By day, each of the files that all repositories have is compiled in three of them; at night in all.
 */
import { expect, it } from 'vitest';
import { IS_NIGHTLY } from '../nightly.ts';
import { compareLayouts } from './compile-layouts.ts';

const ALL_MUST_END_WITHIN_MS = 600_000;
/** By day, a repository has one of so many of the files that all have. */
const ONE_OF = IS_NIGHTLY ? 1 : 5;
const FEWEST_FILES = IS_NIGHTLY ? 400 : 100;

/** Files that load on Airflow and not here, on purpose. */
const EXPLAINED: Readonly<Record<string, string>> = {
  'official-image dags/of_variable.py':
    'a variable that ENV of the Dockerfile holds may be secret, so it is not recorded with the DAG; "svc import" sets it',
};

it(
  'files of repositories of all layouts load here when Airflow loads them, with the same tasks, edges, rules and schedules',
  async () => {
    const compared = await compareLayouts(({ layout, file }) => (layout + file) % ONE_OF === 0);
    const explained = (one: string): boolean => EXPLAINED[one.slice(0, one.indexOf(':'))] !== undefined;
    const all = (of: 'missing' | 'differences'): string[] =>
      compared.flatMap((layout) => layout[of].map((one) => `${layout.name} ${one}`));
    expect([...all('missing').filter((one) => !explained(one)), ...all('differences')]).toEqual([]);
    expect(all('missing').filter(explained)).toHaveLength(Object.keys(EXPLAINED).length);
    expect(compared.reduce((sum, { files }) => sum + files, 0)).toBeGreaterThanOrEqual(FEWEST_FILES);
  },
  ALL_MUST_END_WITHIN_MS,
);
