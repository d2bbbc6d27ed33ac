/** Provider packages: the standard one, which tasks always have, and those that the newest versions of DAGs ask for. */
import { Type } from 'typebox';
import { findRequirements } from '../../db/dags/spec-search.ts';
import type { Requirement } from '../../db/dags/spec-search.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { Collection, Nullable, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const PREFIX = 'apache-airflow-providers-';
/** Ours, in python/airflow/providers/standard; the version is the one whose interface it has. */
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
    version: Type.String({ description: 'As DAG projects ask for it: a version, a range, or `any`' }),
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
      const requirements = await findRequirements(databaseOf(request, db), { tenantId, prefix: PREFIX });
      const asked = requirements.flatMap((row) => providerOf(row) ?? []);
      const providers = [...asked, ...(asked.some(isStandard) ? [] : [STANDARD])].toSorted((a, b) =>
        a.package_name < b.package_name ? -1 : 1,
      );
      return { providers: providers.slice(offset, offset + limit), total_entries: providers.length };
    },
  );
}

const isStandard = (provider: { package_name: string }): boolean => provider.package_name === STANDARD.package_name;

/** `apache-airflow-providers-http[extra] >= 5, < 6 ; marker` in its parts; undefined for other packages. */
function providerOf({ requirement, dags }: Requirement) {
  const match = /^\s*(?<name>[A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*(?<wanted>[^;@]*)/.exec(requirement)?.groups;
  const name = (match?.['name'] ?? '').toLowerCase().replaceAll(/[._]/g, '-');
  if (!name.startsWith(PREFIX)) return undefined;
  const wanted = (match?.['wanted'] ?? '').trim();
  const exact = /^={2,3}\s*(\S+)$/.exec(wanted)?.[1];
  return {
    package_name: name,
    description: `Asked for by ${dags === 1 ? 'one DAG' : `${dags} DAGs`}`,
    version: exact ?? (wanted === '' ? 'any' : wanted),
    documentation_url: `https://airflow.apache.org/docs/${name}/${exact ?? 'stable'}/`,
  };
}
