import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { AnsweredValue } from '@svc/spec/values-read.ts';
import { describe, expect, it } from 'vitest';
import type { CompileAnswer } from '../compile-answer.ts';
import { createReading } from './reading.ts';

const PASSWORD = 'pa55-w0rd-of-the-warehouse';
const given = (text: string | null, masks: readonly string[] = []): AnsweredValue => ({
  text,
  fingerprint: 'f',
  masks,
});
const readingOf = (answer: AnsweredValue) => createReading(() => Promise.resolve(answer));
const WAREHOUSE = { kind: 'connection', name: 'warehouse', isDeclared: true } as const;

/** A compiled DAG with a task that has these arguments. */
const compiled = (kwargs: object, { source = 'the source', output = '' } = {}): CompileAnswer => ({
  ok: true,
  duration_ms: 1,
  output,
  output_truncated: false,
  warnings: [output],
  dags: [
    {
      dag_id: 'd',
      sha256: '',
      stated: {},
      spec: { source: { path: 'd.py', text: source }, tasks: [{ task_id: 'load', kwargs }] } as unknown as CompiledSpec,
    },
  ],
});

describe('the values that a file reads while it is compiled', () => {
  it('a secret that would become part of a version is refused, with its place and without its value', async () => {
    for (const leaked of [PASSWORD, `postgres://u:${PASSWORD}@h`, Buffer.from(`u:${PASSWORD}`).toString('base64')]) {
      const reading = readingOf(given(JSON.stringify({ password: PASSWORD }), [PASSWORD]));
      await reading.answer(WAREHOUSE);
      const answer = reading.complete(compiled({ env: { URL: leaked } }));
      expect(answer).toMatchObject({ ok: false, dags: [], reads: [{ kind: 'connection', name: 'warehouse' }] });
      expect(!answer.ok && answer.error.message).toContain('connection warehouse would become part');
      expect(!answer.ok && answer.error.message).toContain('tasks[load].kwargs.env.URL');
      expect(JSON.stringify(answer)).not.toContain(leaked);
    }
  });

  it('a secret is masked in what the file prints, in its warnings and in its error', async () => {
    const reading = readingOf(given(PASSWORD, [PASSWORD]));
    await reading.answer({ kind: 'variable', name: 'api_token', isDeclared: true });
    const printed = reading.complete(compiled({}, { output: `it is ${PASSWORD}` }));
    expect(printed).toMatchObject({ ok: true, output: 'it is ***', warnings: ['it is ***'] });
    const error = { type: 'error', message: PASSWORD, path: '', line: 1, instead: '', traceback: `x ${PASSWORD}` };
    const failed = reading.complete({ ...compiled({}), ok: false, dags: [], error });
    expect(failed).toMatchObject({ error: { message: '***', traceback: 'x ***' } });
  });

  it('a password that is a word of the file itself does not keep the DAG from loading', async () => {
    const reading = readingOf(given(null, ['airflow-standard']));
    await reading.answer(WAREHOUSE);
    const source = 'from airflow-standard import x';
    expect(reading.complete(compiled({ module: 'airflow-standard' }, { source }))).toMatchObject({ ok: true });
  });

  it('a control plane that does not answer is a refusal with its reason, not a default', async () => {
    const reading = createReading(() => Promise.reject(new Error('the database is away')));
    expect(await reading.answer(WAREHOUSE)).toMatchObject({
      refusal: 'the connection warehouse cannot be read now: the database is away',
    });
    expect(reading.complete(compiled({}))).toMatchObject({ ok: true, reads: [] });
  });

  it('a value that does not exist is recorded, so that creating it is noticed', async () => {
    const reading = readingOf(given(null));
    await reading.answer({ kind: 'variable', name: 'x', isDeclared: true });
    await reading.answer({ kind: 'variable', name: 'a', isDeclared: true });
    expect(reading.complete(compiled({})).reads?.map(({ name }) => name)).toEqual(['a', 'x']);
  });
});
