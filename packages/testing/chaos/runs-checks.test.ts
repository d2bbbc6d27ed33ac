import { expect, it } from 'vitest';
import { checkEvidence } from './runs-checks.ts';
import type { Effect, Evidence } from './runs-evidence.ts';

const ATTEMPT = '00000000-0000-4000-8000-000000000001';
const OTHER = '00000000-0000-4000-8000-000000000002';

const effect = (values: Partial<Effect>): Effect => ({
  what: 'start',
  attempt: ATTEMPT,
  dag: 'chaos_chain',
  run: 'chaos-1',
  task: 't0',
  map: -1,
  try: 1,
  pid: 1,
  ...values,
});

/** A run of one task that went well. */
function evidence(change: Partial<Evidence> = {}): Evidence {
  const step = (was: string | null, became: string) => ({
    run: '1',
    task_id: 't0',
    map_index: -1,
    was,
    became,
    attempt_id: ATTEMPT,
    try_number: 1,
  });
  return {
    runs: [
      { id: '1', dag_id: 'chaos_chain', run_id: 'chaos-1', state: 'success', state_counts: { success: 1, live: 0 } },
    ],
    instances: [
      {
        run: '1',
        dag_id: 'chaos_chain',
        run_id: 'chaos-1',
        task_id: 't0',
        map_index: -1,
        state: 'success',
        try_number: 1,
        attempt_id: ATTEMPT,
        tenant_id: 'tenant',
        failure_reason: null,
      },
    ],
    transitions: [step('scheduled', 'queued'), step('queued', 'running'), step('running', 'success')],
    effects: [effect({}), effect({ what: 'end' })],
    values: new Map([
      ['1/t0/-1/mark', `"${ATTEMPT}"`],
      ['1/t0/-1/return_value', `{"attempt":"${ATTEMPT}"}`],
    ]),
    ...change,
  };
}

const ACCEPTED = [{ dagId: 'chaos_chain', runId: 'chaos-1' }];
const check = (change: Partial<Evidence>) => checkEvidence(evidence(change), ACCEPTED);

it('has nothing to say about a run that went well', () => {
  expect(check({})).toEqual([]);
});

it('misses what was accepted, and finds what nobody was told of', () => {
  expect(checkEvidence(evidence(), [{ dagId: 'chaos_chain', runId: 'chaos-2' }])).toEqual([
    'chaos_chain/chaos-2 was accepted and does not exist',
    'chaos_chain/chaos-1 exists, and nobody was told so',
  ]);
});

it('sees an attempt that ran twice, a try that ran twice, and a body without a start', () => {
  expect(check({ effects: [effect({}), effect({})] })).toEqual([
    `chaos_chain/chaos-1/t0/-1 try 1: attempt ${ATTEMPT} has run twice`,
    'chaos_chain/chaos-1/t0/-1 try 1 has run twice',
  ]);
  expect(check({ effects: [effect({ attempt: OTHER })] })).toEqual([
    `chaos_chain/chaos-1/t0/-1 try 1: attempt ${OTHER} ran without having started`,
  ]);
});

it('sees a task that overtook the one before it', () => {
  const transitions = [...evidence().transitions];
  expect(check({ transitions, effects: [effect({ task: 't1' })] })).toEqual([
    'chaos_chain/chaos-1/t1/-1 started before the end of t0',
  ]);
});

it('takes a failure for an end only where one is expected, and only when it came first', () => {
  const effects = [
    effect({ dag: 'chaos_retry', task: 'rare', attempt: OTHER }),
    effect({ dag: 'chaos_retry', task: 'rare', attempt: OTHER, what: 'end' }),
    effect({ dag: 'chaos_retry', task: 'anyway' }),
  ];
  const [queued, running] = evidence().transitions;
  if (!queued || !running) throw new Error('unreachable');
  const failure = { ...running, task_id: 'hopeless', was: 'running', became: 'failed', attempt_id: OTHER };
  const started = { ...running, task_id: 'rare', attempt_id: OTHER };
  const order = 'chaos_retry/chaos-1/anyway/-1 started before the end of hopeless';
  expect(check({ effects, transitions: [started, failure, running] })).not.toContain(order);
  expect(check({ effects, transitions: [started, running, failure] })).toContain(order);
});

it('counts slots by their width', () => {
  const slots = (attempt: string, task: string, map: number) =>
    (['start', 'end'] as const).map((what) =>
      effect({ what, attempt, dag: 'chaos_mapped', run: 'chaos-1', task, map }),
    );
  const [wide, wideEnd] = slots(ATTEMPT, 'numbers', -1);
  const [another, anotherEnd] = slots(OTHER, 'numbers', -1);
  const complaints = check({ effects: [wide, another, wideEnd, anotherEnd].flatMap((each) => each ?? []) });
  expect(complaints).toContain('chaos_mapped/chaos-1/numbers/-1: 4 at once of pool, at most 3');
});

it('sees a change of state that the table does not allow, wrong counts, and values of another attempt', () => {
  const [first] = evidence().transitions;
  if (!first) throw new Error('unreachable');
  expect(check({ transitions: [...evidence().transitions, { ...first, was: 'success', became: 'running' }] })).toEqual([
    'run 1 t0 -1: success became running',
  ]);
  const [run] = evidence().runs;
  if (!run) throw new Error('unreachable');
  expect(check({ runs: [{ ...run, state_counts: { success: 2 } }] })).toHaveLength(1);
  expect(check({ values: new Map([['1/t0/-1/mark', `"${OTHER}"`]]) })).toHaveLength(2);
});
