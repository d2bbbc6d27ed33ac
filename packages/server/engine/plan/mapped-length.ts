/**
 * Computes how many instances a mapping makes. The length of a literal list is known in advance. The length of
 * references to values of other tasks (`xcom`, and `map`, `zip`, `concat` on top of them) is known after those tasks
 * have run.
 */
import type { MappingSpec } from '@svc/spec/schema-parts.ts';
import type { MappedLength } from './types.ts';

/** Length of one task's value, or undefined when the caller has not loaded it yet. */
export type ValueLength = (reference: { taskId: string; key: string }) => MappedLength | undefined;

/** Returns null when the length is unknown before the referenced tasks have run. */
export function literalLength(mapping: MappingSpec): number | null {
  if (mapping.kind === 'expand_kwargs') return mapping.length;
  let product: number | null = 1;
  for (const { length } of mapping.arguments) {
    // Zero times anything is zero, but Airflow also waits for the other values first.
    product = product === null || length === null ? null : product * length;
  }
  return product;
}

/**
 * Returns the tasks whose values decide the length. References inside a literal list do not count, because they do not
 * change the length of the list.
 */
export function lengthSources(mapping: MappingSpec): string[] {
  const parts = mapping.kind === 'expand_kwargs' ? [mapping] : mapping.arguments;
  return [...new Set(parts.flatMap(({ value, length }) => (length === null ? sourcesOf(value) : [])))];
}

function sourcesOf(value: unknown): string[] {
  const tagged = fieldsOf(value);
  if (tagged['__type'] === 'xcom') return [String(tagged['task_id'])];
  if (tagged['__type'] === 'xcom_map') return sourcesOf(tagged['source']);
  return Array.isArray(tagged['sources']) ? tagged['sources'].flatMap(sourcesOf) : [];
}

/** Several arguments make the cross product. */
export function mappingLength(mapping: MappingSpec, valueLength: ValueLength): MappedLength | undefined {
  if (mapping.kind === 'expand_kwargs') return partLength(mapping.value, mapping.length, valueLength);
  return combine(
    mapping.arguments.map(({ value, length }) => partLength(value, length, valueLength)),
    (lengths) => lengths.reduce((product, length) => product * length, 1),
  );
}

function partLength(value: unknown, length: number | null, valueLength: ValueLength): MappedLength | undefined {
  return length === null ? lengthOf(value, valueLength) : { kind: 'known', length };
}

function lengthOf(value: unknown, valueLength: ValueLength): MappedLength | undefined {
  if (Array.isArray(value)) return { kind: 'known', length: value.length };
  const tagged = fieldsOf(value);
  const sources = Array.isArray(tagged['sources']) ? tagged['sources'] : [];
  switch (tagged['__type']) {
    case 'xcom':
      return valueLength({ taskId: String(tagged['task_id']), key: String(tagged['key']) });
    case 'xcom_map':
      return lengthOf(tagged['source'], valueLength);
    case 'xcom_concat':
      return combine(
        sources.map((source) => lengthOf(source, valueLength)),
        (lengths) => lengths.reduce((sum, length) => sum + length, 0),
      );
    case 'xcom_zip':
      return combine(
        sources.map((source) => lengthOf(source, valueLength)),
        // With a fill value, the longest argument decides.
        (lengths) => (Object.hasOwn(tagged, 'fillvalue') ? Math.max(...lengths) : Math.min(...lengths)),
      );
    default:
      return { kind: 'unusable', reason: `its length cannot be told before it runs (${describe(tagged)})` };
  }
}

/** Returns the fields of a value that the compiler wrote. A reference is an object whose `__type` names its kind. */
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

/** Evaluates all parts, also after one that is not loaded, so that the caller can load them together. */
function combine(
  parts: readonly (MappedLength | undefined)[],
  join: (lengths: readonly number[]) => number,
): MappedLength | undefined {
  const lengths: number[] = [];
  let missing = false;
  for (const part of parts) {
    if (part === undefined) missing = true;
    else if (part.kind === 'unusable') return part;
    else lengths.push(part.length);
  }
  return missing ? undefined : { kind: 'known', length: join(lengths) };
}

const describe = (tagged: Readonly<Record<string, unknown>>): string =>
  typeof tagged['__type'] === 'string' ? tagged['__type'] : 'not a list, not a reference';
