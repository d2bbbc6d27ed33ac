/** Variables in files: a key with a value, or with `{"value": …, "description": …}`. */
import type { Variable } from '@svc/client/wire-types.ts';
import { valueOf, writeJson } from '@svc/server/vault/json-text.ts';
import type { JsonNode } from '@svc/server/vault/json-text.ts';
import { MASK } from '@svc/server/vault/mask.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';
import type { ExportedEntry, FileEntry, FileFormat } from './structured-file.ts';

/** A variable from a file in the form of the API. A missing description keeps the stored one. */
export type VariableEntry = Pick<Variable, 'key' | 'value'> & { description?: string };

export function variableOf({ name, value }: FileEntry): VariableEntry {
  if (typeof value === 'string') return { key: variableKey(name), value };
  if (value.kind === 'object') {
    const fields = new Map(value.entries);
    const inner = fields.get('value');
    const description = fields.get('description');
    // An object with exactly these two fields is a variable with a description, as Airflow writes it. Any other object
    // is the value itself.
    if (inner !== undefined && fields.size === (description === undefined ? 1 : 2)) {
      return {
        key: name,
        value: textOf(inner),
        ...(description !== undefined && { description: textOf(description) }),
      };
    }
  }
  return { key: name, value: textOf(value) };
}

/** The environment variable `AIRFLOW_VAR_MY_KEY` is the variable `my_key`. */
const variableKey = (name: string): string =>
  name.startsWith('AIRFLOW_VAR_') ? name.slice('AIRFLOW_VAR_'.length).toLowerCase() : name;

/** Returns strings unchanged, null as an empty text, and any other value as JSON. */
function textOf(node: JsonNode): string {
  if (node.kind !== 'scalar') return writeJson(node);
  const value = valueOf(node);
  return typeof value === 'string' ? value : value === null ? '' : node.text;
}

/** True if importing this where the variable does not exist would lose a secret. */
export const isMaskedSecret = ({ key, value }: Pick<Variable, 'key' | 'value'>): boolean =>
  (value === MASK && isSensitiveName(key)) || value.includes(`"${MASK}"`);

export function exportedVariable(
  { key, value, description }: Omit<Variable, 'team_name'>,
  format: FileFormat,
): ExportedEntry {
  return { name: key, value: format === 'env' || description === null ? value : { value, description } };
}
