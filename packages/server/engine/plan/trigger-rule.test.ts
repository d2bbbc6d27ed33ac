import { describe, expect, it } from 'vitest';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import { TRIGGER_RULE_NAMES, type TriggerRule } from '@svc/spec/trigger-rules.ts';
import { addFinished, addUpstream, noCounts } from './counts.ts';
import { decide, type Verdict } from './trigger-rule.ts';

// s success, f failed, k skipped, u upstream_failed, r removed, . not finished; capitals are setups.
const STATES: Record<string, TaskStateOrNone> = {
  s: 'success',
  f: 'failed',
  k: 'skipped',
  u: 'upstream_failed',
  r: 'removed',
  '.': null,
};

const judge = (rule: TriggerRule, upstream: string): Verdict => {
  const counts = noCounts();
  for (const letter of upstream) {
    const isSetup = letter !== letter.toLowerCase();
    addUpstream(counts, { isSetup, by: 1 });
    addFinished(counts, { state: STATES[letter.toLowerCase()] ?? null, isSetup });
  }
  return decide(rule, counts);
};

/** Upstream states and what Airflow 3.2.2 does with them, asked of it rule by rule. */
const ANSWERS: Record<TriggerRule, Record<Verdict, string>> = {
  all_success: { run: 's ss', wait: '. s.', skipped: 'k sk .k', upstream_failed: 'f u .f kf ku sf' },
  all_failed: { run: 'f ff fu u', wait: '. f. u.', skipped: 's k .s fs fk', upstream_failed: '' },
  all_done: { run: 's f k u sfku', wait: '. s. f. k.', skipped: '', upstream_failed: '' },
  all_done_min_one_success: { run: 's sf su', wait: '. s. f.', skipped: 'k sk .k fk ks', upstream_failed: 'f u fu' },
  all_done_setup_success: {
    run: 's f k Ss Sf SK SF sf',
    wait: '. S. K. F.',
    skipped: 'K Ks KK',
    upstream_failed: 'F U Fs KF KU',
  },
  one_success: { run: 's .s fs ks', wait: '. f. k. u.', skipped: 'k kk', upstream_failed: 'f u fk uk' },
  one_failed: { run: 'f u .f sf ku', wait: '. s. k.', skipped: 's k sk', upstream_failed: '' },
  one_done: { run: 's f .s .f ks uf', wait: '. k. u.', skipped: 'k u ku', upstream_failed: '' },
  none_failed: { run: 's k sk', wait: '. s. k.', skipped: '', upstream_failed: 'f u .f kf' },
  none_failed_min_one_success: { run: 's sk', wait: '. s. k.', skipped: 'k kk', upstream_failed: 'f u .f kf' },
  none_skipped: { run: 's f u sfu', wait: '. s. f.', skipped: 'k .k sk', upstream_failed: '' },
  always: { run: '. s f k u s.', wait: '', skipped: '', upstream_failed: '' },
  all_skipped: { run: 'k kk', wait: '. k.', skipped: 's f u .s kf', upstream_failed: '' },
};

describe.each(TRIGGER_RULE_NAMES)('trigger rule %s', (rule) => {
  it.each(Object.entries(ANSWERS[rule]).filter(([, cases]) => cases !== ''))('%s: %s', (verdict, cases) => {
    for (const upstream of cases.split(' '))
      expect(`${upstream} ${judge(rule, upstream)}`).toBe(`${upstream} ${verdict}`);
  });

  it('does not wait for upstream instances that were removed', () => {
    expect(judge(rule, 'r')).not.toBe('wait');
    expect(judge(rule, 'sfkr')).not.toBe('wait');
  });

  it('lets a task without upstream run', () => {
    expect(decide(rule, noCounts())).toBe('run');
  });
});
