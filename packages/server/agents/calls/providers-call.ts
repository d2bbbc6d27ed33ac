/** report_providers: the agent tells which provider packages the environment of the attempt's DAG has. */
import { recordInstalledProviders } from '../../db/dags/providers.ts';
import type { Database } from '../../db/database.ts';
import type { InstalledProvider } from '../../db/schema.ts';
import { RpcError } from '../rpc-errors.ts';
import { isObject } from './call-context.ts';
import { readConnectionType } from './connection-types.ts';
import type { CallMethod } from './call-context.ts';
import type { KnownProviders } from './known-providers.ts';

/** Airflow itself has some hundred. */
const MAX_PROVIDERS = 1_000;
const MAX_TEXT = 1_000;
/** Of one provider, as JSON. The largest has some 30,000 characters. */
const MAX_FORMS = 200_000;

export function providersCall({ db, providers }: { db: Database; providers: KnownProviders }): CallMethod {
  return async ({ identity, params }) => {
    const listed = params.optionalList('providers') ?? [];
    if (listed.length > MAX_PROVIDERS)
      throw new RpcError('invalid', `providers must be a list of at most ${MAX_PROVIDERS} packages`);
    await recordInstalledProviders(db.tenant(identity.tenantId), identity.dagId, listed.map(readProvider));
    providers.told(identity);
    return { json: 'null' };
  };
}

function readProvider(value: unknown): InstalledProvider {
  if (!isObject(value)) throw new RpcError('invalid', 'a provider must be an object');
  return {
    name: shortText(value, 'name'),
    version: shortText(value, 'version'),
    summary: shortText(value, 'summary'),
    documentation_url: linkOf(value['documentation_url'] ?? null),
    ...connectionTypesOf(value['connection_types']),
  };
}

/** What the form of connections shows. Left out where it says nothing that can be shown, or too much. */
function connectionTypesOf(value: unknown): Pick<InstalledProvider, 'connection_types'> {
  if (!Array.isArray(value)) return {};
  const found = value.flatMap((entry) => readConnectionType(entry) ?? []);
  return found.length > 0 && JSON.stringify(found).length <= MAX_FORMS ? { connection_types: found } : {};
}

/** Somebody will click on it: a package must not lead anywhere but to a page. */
function linkOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_TEXT || !URL.canParse(value)) return null;
  const { protocol, href } = new URL(value);
  return ['http:', 'https:'].includes(protocol) ? href : null;
}

function shortText(value: Record<string, unknown>, name: string): string {
  const text = value[name];
  if (typeof text !== 'string' || text.includes('\0') || !text.isWellFormed())
    throw new RpcError('invalid', `${name} of a provider must be a text`);
  return text.slice(0, MAX_TEXT);
}
