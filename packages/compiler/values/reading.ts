/** What one file reads while it is compiled: answers its questions, records them, and keeps secret values out of the result. */
import { MASK } from '@svc/spec/masking/rules.ts';
import { createSecretSet, maskValues } from '@svc/spec/masking/secret-set.ts';
import type { SecretSet } from '@svc/spec/masking/secret-set.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { AnswerValue, AskedValue, ValueRead } from '@svc/spec/values-read.ts';
import type { CompileAnswer } from '../compile-answer.ts';

/** The answer as the compiler process passes it on to the file. */
export type PassedAnswer = { text: string | null; note?: string | undefined } | { refusal: string; instead: string };

export type Reading = {
  answer(asked: AskedValue): Promise<PassedAnswer>;
  /** The answer of the compiler with what was read, and without secret values. */
  complete(answer: CompileAnswer): CompileAnswer;
};

export function createReading(answerValue: AnswerValue): Reading {
  const reads = new Map<string, ValueRead>();
  const secrets = new Map<string, readonly string[]>();
  return {
    async answer(asked) {
      const { kind, name } = asked;
      const found = await answerValue(asked).catch((error: unknown) => ({
        refusal: `the ${kind} ${name} cannot be read now: ${error instanceof Error ? error.message : String(error)}`,
        instead: 'Compile the file again',
      }));
      if ('refusal' in found) return { refusal: found.refusal, instead: found.instead };
      const { text, fingerprint, masks, note } = found;
      if (fingerprint !== undefined) reads.set(`${kind} ${name}`, { kind, name, fingerprint });
      if (masks.length > 0) secrets.set(`${kind} ${name}`, masks);
      return { text, ...(note !== undefined && { note }) };
    },
    complete(answer) {
      const withReads = { ...answer, reads: [...reads.values()].sort(byName) };
      return secrets.size === 0 ? withReads : withoutSecrets(withReads, secrets);
    },
  };
}

const byName = (a: ValueRead, b: ValueRead): number =>
  a.kind === b.kind ? (a.name < b.name ? -1 : 1) : a.kind < b.kind ? -1 : 1;

type Secrets = ReadonlyMap<string, readonly string[]>;

function withoutSecrets(answer: CompileAnswer, secrets: Secrets): CompileAnswer {
  const all = [setOf([...secrets.values()].flat())];
  const hide = (text: string): string => maskValues(text, all);
  const shown = { output: hide(answer.output), warnings: answer.warnings.map(hide) };
  if (!answer.ok) {
    const { error } = answer;
    const hidden = { message: hide(error.message), instead: hide(error.instead), traceback: hide(error.traceback) };
    return { ...answer, ...shown, error: { ...error, ...hidden } };
  }
  for (const { spec } of answer.dags) {
    const leak = findLeak(spec, secrets);
    if (leak) return { ...answer, ...shown, ok: false, dags: [], error: refusal(spec, leak) };
  }
  return { ...answer, ...shown };
}

function setOf(values: readonly string[]): SecretSet {
  const set = createSecretSet();
  for (const value of values) set.add(value);
  return set;
}

type Leak = { secret: string; place: string };

/** A text that the author wrote into the file is known to its readers already. */
function findLeak(spec: CompiledSpec, secrets: Secrets): Leak | undefined {
  const { source, files: _files, ...rest } = spec;
  for (const [secret, values] of secrets) {
    const set = setOf(values.filter((value) => !source.text.includes(value)));
    if (set.size() === 0) continue;
    const place = placeIn(rest, set);
    if (place !== undefined) return { secret, place };
  }
  return undefined;
}

function placeIn(value: unknown, set: SecretSet, place = ''): string | undefined {
  if (typeof value === 'string') return maskValues(value, [set]) === value ? undefined : place;
  if (value === null || typeof value !== 'object') return undefined;
  for (const [key, item] of Object.entries(value)) {
    const name = nameOf(item) ?? (Array.isArray(value) ? `[${key}]` : key);
    const inside = placeIn(item, set, name.startsWith('[') || place === '' ? place + name : `${place}.${name}`);
    if (inside !== undefined) return inside;
    if (maskValues(key, [set]) !== key) return place === '' ? MASK : `${place}.${MASK}`;
  }
  return undefined;
}

/** Entries of lists by their ids, which authors know. */
function nameOf(item: unknown): string | undefined {
  const id = (item as { task_id?: unknown } | null)?.task_id;
  return typeof id === 'string' ? `[${id}]` : undefined;
}

const refusal = ({ source }: CompiledSpec, { secret, place }: Leak) => ({
  type: 'secret',
  message: `the secret value of the ${secret} would become part of the version, at ${place}`,
  path: source.path,
  line: null,
  instead:
    'Read it in the task, or in a template ({{ var.value.… }}, {{ conn.… }}): versions are shown to everybody who may read the DAG',
  traceback: '',
});
