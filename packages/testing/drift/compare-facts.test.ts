import { describe, expect, it } from 'vitest';
import { compareFacts, renderDrift } from './compare-facts.ts';
import { openApiFacts } from './openapi-facts.ts';
import type { OpenApiDocument } from './openapi-facts.ts';

const document = (field: object, parameter: string): OpenApiDocument => ({
  paths: {
    '/dags': {
      get: {
        parameters: [{ name: parameter, in: 'query', schema: { type: 'integer', title: 'words' } }],
        responses: {
          200: { content: { 'application/json': { schema: { $ref: '#/Dag' } } } },
          404: { content: {} },
        },
      },
    },
  },
  components: { schemas: { Dag: { properties: { dag_id: field }, required: ['dag_id'] } } },
});

describe('the comparison of Airflow with what was stored', () => {
  it('names each fact that is new, gone or changed, and nothing else, or a difference stays unseen', () => {
    const expected = { names: { kept: '()', lost: '(a)', other: '(b)' }, client: { call: '()' } };
    const found = { names: { kept: '()', added: '(c)', other: '(b, d)' }, airflowctl: { version: '' } };
    expect(compareFacts(expected, found)).toEqual([
      { part: 'airflowctl', fact: 'version', change: 'new', found: '' },
      { part: 'client', fact: 'call', change: 'gone', expected: '()' },
      { part: 'names', fact: 'added', change: 'new', found: '(c)' },
      { part: 'names', fact: 'lost', change: 'gone', expected: '(a)' },
      { part: 'names', fact: 'other', change: 'changed', expected: '(b)', found: '(b, d)' },
    ]);
    expect(compareFacts(expected, expected)).toEqual([]);
  });

  it('prints a line for each difference and the counts, and of long values the place where they differ', () => {
    const long = 'x'.repeat(300);
    const rows = compareFacts(
      { names: { one: `${long}before`, two: '' } },
      { names: { one: `${long}after`, three: '(c)' } },
    );
    const lines = renderDrift(rows).trimEnd().split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/^changed {2}names {2}one {4}x{20}before → x{20}after$/),
      'new      names  three  (c)',
      'gone     names  two',
      '1 new, 1 gone, 1 changed',
    ]);
    expect(renderDrift([])).toBe('nothing differs from the expectation\n');
  });

  it('sees a new parameter and another type of a field, but not other words or another order of keywords', () => {
    const before = { openapi: openApiFacts(document({ type: 'string', title: 'Id', maxLength: 9 }, 'limit')) };
    const reworded = { openapi: openApiFacts(document({ maxLength: 9, type: 'string', description: 'id' }, 'limit')) };
    expect(compareFacts(before, reworded)).toEqual([]);
    const after = { openapi: openApiFacts(document({ type: 'integer' }, 'offset')) };
    expect(compareFacts(before, after).map(({ change, fact }) => `${change} ${fact}`)).toEqual([
      'changed Dag.dag_id',
      'gone GET /dags query limit',
      'new GET /dags query offset',
    ]);
    expect(Object.keys(before.openapi)).toContain('GET /dags 200');
  });
});
