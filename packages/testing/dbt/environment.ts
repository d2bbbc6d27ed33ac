/** A Python with dbt, its adapters for DuckDB and Postgres, and what compiling and running DAGs needs: made once, in .cache/. */
import { join } from 'node:path';
import { virtualEnvironment } from '../virtual-environment.ts';

/** The path of its interpreter. */
export const dbtPython = (): Promise<string> =>
  virtualEnvironment({ name: 'dbt-projects', requirements: [join(import.meta.dirname, 'requirements.txt')] });
