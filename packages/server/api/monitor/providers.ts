/**
 * Provider packages: the standard provider, which tasks always have, those in task environments, and those that the
 * newest versions of DAGs require but no compiler or worker has reported yet.
 */
import type { InstalledProvider } from '@svc/spec/installed-providers.ts';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { findInstalledProviders, findRequirements } from '../../db/dags/providers.ts';
import type { Requirement } from '../../db/dags/providers.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { Collection, Nullable, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const PREFIX = 'apache-airflow-providers-';
/** Our own implementation in python/airflow/providers/standard. The version is the one whose interface it has. */
const STANDARD = {
  package_name: `${PREFIX}standard`,
  description: 'Standard operators, sensors and hooks; part of every task environment',
  version: '1.21.0',
  documentation_url: 'https://airflow.apache.org/docs/apache-airflow-providers-standard/1.21.0/',
};

const Provider = Type.Object(
  {
    package_name: Type.String(),
    description: Type.String(),
    version: Type.String({
      description:
        'What is installed; until an environment has been made, what DAG projects ask for: a version, a range, or `any`',
    }),
    documentation_url: Nullable(Type.String()),
  },
  { title: 'Provider' },
);

export function registerProviders(app: App, { db }: Services): void {
  app.get(
    '/api/v2/providers',
    {
      config: { access: 'read:config' },
      schema: {
        operationId: 'get_providers',
        tags: ['Providers'],
        summary: 'List the provider packages of task environments',
        querystring: Type.Object(PagingQuery),
        response: { 200: Collection('ProviderCollection', 'providers', Provider) },
      },
    },
    async (request) => {
      const { limit, offset } = request.query;
      const { tenantId } = principalOf(request);
      const scope = databaseOf(request, db);
      const [requirements, present] = await Promise.all([
        findRequirements(scope, { tenantId, prefix: PREFIX }),
        findInstalledProviders(scope, tenantId),
      ]);
      const byName = new Map<string, Static<typeof Provider>>([[STANDARD.package_name, STANDARD]]);
      for (const provider of requirements.flatMap((row) => askedFor(row) ?? []))
        byName.set(provider.package_name, provider);
      for (const provider of installed(present)) byName.set(provider.package_name, provider);
      const providers = [...byName.values()].toSorted((a, b) => (a.package_name < b.package_name ? -1 : 1));
      return { providers: providers.slice(offset, offset + limit), total_entries: providers.length };
    },
  );
}

/** Groups by name, because several environments may have several versions of a package. */
function installed(present: readonly InstalledProvider[]): Static<typeof Provider>[] {
  return [...Map.groupBy(present, ({ name }) => name)].map(([name, all]) => ({
    package_name: name,
    description: all[0]?.summary ?? '',
    version: all.map(({ version }) => version).join(', '),
    documentation_url:
      all.find(({ documentation_url: url }) => url)?.documentation_url ??
      (name.startsWith(PREFIX) ? documentationOf(name, all.length === 1 ? all[0]?.version : undefined) : null),
  }));
}

/** Parses `apache-airflow-providers-http[extra] >= 5, < 6 ; marker`. Returns undefined for other packages. */
function askedFor({ requirement, dags }: Requirement) {
  const match = /^\s*(?<name>[A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*(?<wanted>[^;@]*)/.exec(requirement)?.groups;
  const name = (match?.['name'] ?? '').toLowerCase().replaceAll(/[._]/g, '-');
  if (!name.startsWith(PREFIX)) return undefined;
  const wanted = (match?.['wanted'] ?? '').trim();
  const exact = /^={2,3}\s*(\S+)$/.exec(wanted)?.[1];
  return {
    package_name: name,
    description: `Not installed yet: asked for by ${dags === 1 ? 'one DAG, which has' : `${dags} DAGs, which have`} not run`,
    version: exact ?? (wanted === '' ? 'any' : wanted),
    documentation_url: documentationOf(name, exact),
  };
}

const documentationOf = (name: string, version = 'stable'): string =>
  `https://airflow.apache.org/docs/${name}/${version}/`;
