/** Checked by the type checker: a call that the API does not have cannot be written. */
import { describe, expectTypeOf, it } from 'vitest';
import type { ApiClient } from './client.ts';
import type { Answer, Call, CallArguments, Entry } from './operations.ts';
import type { DagRun, TaskInstance } from './wire-types.ts';

type Run = '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}';

describe('the type of a call', () => {
  it('asks for the ids of its path and for a body only where there is one', () => {
    expectTypeOf<Call<'get', Run>['path']>().toEqualTypeOf<{ dag_id: string; dag_run_id: string }>();
    expectTypeOf<Call<'get', Run>>().not.toHaveProperty('body');
    expectTypeOf<Call<'patch', Run>>().toHaveProperty('body');
    expectTypeOf<CallArguments<'get', '/api/v2/version'>>().toExtend<[call?: object]>();
  });

  it('takes no method that a path does not have', () => {
    expectTypeOf<ApiClient['put']>().parameter(0).extract<Run>().toBeNever();
    expectTypeOf<ApiClient['get']>().parameter(0).extract<Run>().toEqualTypeOf<Run>();
  });
});

describe('the type of an answer', () => {
  it('is the schema of its success, and undefined where there is none', () => {
    expectTypeOf<Answer<'get', Run>>().toEqualTypeOf<DagRun>();
    expectTypeOf<Answer<'delete', Run>>().toEqualTypeOf<undefined>();
  });

  it('of a list is a list of its entries', () => {
    expectTypeOf<Entry<`${Run}/taskInstances`, 'task_instances'>>().toEqualTypeOf<TaskInstance>();
  });
});
