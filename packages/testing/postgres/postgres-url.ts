import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** The `postgres` database of the cluster that the whole test run shares, as its superuser. */
export function postgresUrl(): string {
  const url = inject('postgresUrl') as string | undefined;
  if (url !== undefined) return url;
  throw new Error(
    'tests of the unit tier have no Postgres: import packages/testing/postgres (or a harness that does) at the top of the file, and it is in the db tier (packages/testing/vitest/tiers.ts)',
  );
}
