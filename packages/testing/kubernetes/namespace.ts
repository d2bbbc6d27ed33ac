import { randomBytes } from 'node:crypto';
import { core } from './cluster.ts';

export type TestNamespace = AsyncDisposable & { readonly name: string };

/** One for each test file, so that files do not see each other's pods. Deleted with all it has when disposed. */
export async function createTestNamespace(purpose: string): Promise<TestNamespace> {
  const name = `test-${purpose}-${randomBytes(3).toString('hex')}`;
  await core.createNamespace({ body: { metadata: { name, labels: { 'svc-test': purpose } } } });
  return {
    name,
    async [Symbol.asyncDispose]() {
      await core.deleteNamespace({ name, gracePeriodSeconds: 0 });
    },
  };
}
