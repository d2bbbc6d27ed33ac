/**
 * What DAG files read while they are compiled on this machine, after the environment (AIRFLOW_VAR_…, AIRFLOW_CONN_…):
 * files that a person names, then a control plane.
 */
import type { AnswerValue, ValueKind } from '@svc/spec/values-read.ts';
import { masksOfConnection, masksOfVariable } from '@svc/server/vault/tenant-vault.ts';
import type { Client } from '../client/client.ts';
import type { CliContext } from '../context.ts';

/** Values are looked up in the order of these. Returns undefined if there is nothing to look in. */
export async function openValues(
  context: CliContext,
  { path, client }: { path?: string | undefined; client?: Client | undefined },
): Promise<AnswerValue | undefined> {
  if (path === undefined) return client && valuesOfServer(client);
  const given = await valuesOfFiles(context, path);
  return async (asked) => {
    const { kind, name } = asked;
    const found = given.get(keyOf(kind, name));
    if (found) return { ...found, fingerprint: undefined };
    if (client) return valuesOfServer(client)(asked);
    return { text: null, fingerprint: undefined, masks: [], note: `the ${kind} ${name} is not in ${path}` };
  };
}

const valuesOfServer =
  (client: Client): AnswerValue =>
  async ({ kind, name, isDeclared }) => {
    const found = await client.post('/api/v2/valuesForCompile', { body: { kind, name, is_declared: isDeclared } });
    return { ...found, note: found.note ?? undefined };
  };

type Given = { text: string; masks: readonly string[] };

async function valuesOfFiles(context: CliContext, path: string): Promise<Map<string, Given>> {
  const { readSources } = await import('../import/read-sources.ts');
  const values = new Map<string, Given>();
  for (const found of await readSources(context, path, undefined)) {
    if (found.kind === 'variables') {
      const { value } = found.body;
      values.set(keyOf('variable', found.name), { text: value, masks: masksOfVariable(found.name, value) });
    }
    if (found.kind !== 'connections') continue;
    const { connection_id: _id, ...fields } = found.body;
    const masks = masksOfConnection({ password: fields.password ?? null, extra: fields.extra ?? null });
    values.set(keyOf('connection', found.name), { text: JSON.stringify(fields), masks });
  }
  return values;
}

const keyOf = (kind: ValueKind, name: string): string => `${kind} ${name}`;

export type ValuesOption = { values?: string };

export const VALUES_OPTION = [
  '--values <path>',
  'what DAG files read at their top: variables.json, connections.json, .env, airflow_settings.yaml, or a folder of them',
] as const;
