/** report_providers: the agent reports the provider packages in the environment of the attempt's DAG. */
import { ProviderReportError, readProviders } from '@svc/spec/installed-providers.ts';
import type { InstalledProvider } from '@svc/spec/installed-providers.ts';
import { recordInstalledProviders } from '../../db/dags/providers.ts';
import type { Database } from '../../db/database.ts';
import { RpcError } from '../rpc-errors.ts';
import type { CallMethod } from './call-context.ts';
import type { KnownProviders } from './known-providers.ts';

export function providersCall({ db, providers }: { db: Database; providers: KnownProviders }): CallMethod {
  return async ({ identity, params }) => {
    const listed = await readReport(params.optionalList('providers') ?? []);
    await recordInstalledProviders(db.tenant(identity.tenantId), identity.dagId, listed);
    providers.told(identity);
    return { json: 'null' };
  };
}

async function readReport(reported: readonly unknown[]): Promise<InstalledProvider[]> {
  try {
    return await readProviders(reported);
  } catch (error) {
    throw error instanceof ProviderReportError ? new RpcError('invalid', error.message) : error;
  }
}
