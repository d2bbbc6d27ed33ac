import { expect, it } from 'vitest';
import type { InstanceEvidence, Transition } from '../chaos/runs-evidence.ts';
import { checkPods } from './chaos-checks.ts';
import type { Evidence } from './chaos-checks.ts';
import type { LedgerLine } from './ledger.ts';

const ACCEPTED = [{ dagId: 'pods', runId: 'r' }];
const RUNS = [{ dag_id: 'pods', run_id: 'r', state: 'success' }];

const line = (what: 'start' | 'end', attempt: string, tryNumber = 1): LedgerLine => ({
  id: `${what}-${attempt}`,
  what,
  attempt,
  host: `svc-${attempt}`,
  dag: 'pods',
  run: 'r',
  task: 't',
  try: tryNumber,
});
const change = (was: string, became: string, attempt: string): Transition => ({
  run: '1',
  task_id: 't',
  map_index: -1,
  was,
  became,
  attempt_id: attempt,
  try_number: 1,
});
const instance = (attempt: string, tryNumber = 1): InstanceEvidence => ({
  run: '1',
  dag_id: 'pods',
  run_id: 'r',
  task_id: 't',
  map_index: -1,
  state: 'success',
  try_number: tryNumber,
  attempt_id: attempt,
  tenant_id: 'x',
  failure_reason: null,
});

const once: Evidence = {
  runs: RUNS,
  instances: [instance('a')],
  tries: [],
  transitions: [
    change('scheduled', 'queued', 'a'),
    change('queued', 'running', 'a'),
    change('running', 'success', 'a'),
  ],
  lines: [line('start', 'a'), line('end', 'a')],
};
/** Killed in its first try, and well in the second. */
const again: Evidence = {
  ...once,
  instances: [instance('b', 2)],
  tries: [{ failure_reason: 'pod_deleted: the pod of the task was deleted' }],
  transitions: [
    change('queued', 'running', 'a'),
    change('running', 'up_for_retry', 'a'),
    change('queued', 'running', 'b'),
    change('running', 'success', 'b'),
  ],
  lines: [line('start', 'a'), line('start', 'b', 2), line('end', 'b', 2)],
};

it('has nothing to say when all went well, or a try was killed', () => {
  expect(checkPods(once, ACCEPTED)).toEqual([]);
  expect(checkPods(again, ACCEPTED)).toEqual([]);
});

it.each<[string, Evidence, string]>([
  ['a run that is not there', { ...once, runs: [] }, 'r was lost'],
  ['a run that has not ended', { ...once, runs: [{ dag_id: 'pods', run_id: 'r', state: 'running' }] }, 'r is running'],
  ['a body that ran twice', { ...once, lines: [...once.lines, { ...line('start', 'a'), id: 'x' }] }, 'has run twice'],
  ['a try that ran twice', { ...again, lines: [...again.lines, line('start', 'c', 2)] }, 'try 2 has run twice'],
  ['a body that nobody started', { ...once, transitions: [] }, 'ran without having started'],
  ['a success that did not run', { ...once, lines: [line('start', 'a')] }, 'which has not run'],
  [
    'a body of an attempt that was taken back',
    { ...again, transitions: [...again.transitions, change('running', 'scheduled', 'b')] },
    'although it was taken back',
  ],
  [
    'a body in the pod of another',
    { ...once, lines: once.lines.map((of) => ({ ...of, host: 'svc-b' })) },
    'ran in svc-b',
  ],
  ['a try too many', { ...once, instances: [instance('a', 2)] }, '2 tries of 1 instances'],
  ['a reason that nobody gave cause for', { ...again, tries: [{ failure_reason: 'exception: x' }] }, 'says exception'],
])('notices %s', (_name, evidence, complaint) => {
  expect(checkPods(evidence, ACCEPTED).join('\n')).toContain(complaint);
});
