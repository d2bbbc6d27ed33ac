// Trigger rules decide by the states of the direct upstream tasks when a task may run. The list is closed: the compiler
// refuses other words.

export const TRIGGER_RULES = {
  all_success: 'every upstream task succeeded',
  all_failed: 'every upstream task failed or could not run because of a failure',
  all_done: 'every upstream task is finished, in whatever state',
  all_done_min_one_success: 'every upstream task is finished and at least one succeeded',
  all_done_setup_success: 'every upstream task is finished and at least one setup among them succeeded (teardowns)',
  one_success: 'at least one upstream task succeeded; does not wait for the others',
  one_failed: 'at least one upstream task failed; does not wait for the others',
  one_done: 'at least one upstream task succeeded or failed; does not wait for the others',
  none_failed: 'no upstream task failed: each succeeded or was skipped',
  none_skipped: 'no upstream task was skipped: each succeeded or failed',
  always: 'at once, whatever upstream tasks do',
  none_failed_min_one_success: 'no upstream task failed and at least one succeeded',
  all_skipped: 'every upstream task was skipped',
} as const;

export type TriggerRule = keyof typeof TRIGGER_RULES;

export const TRIGGER_RULE_NAMES = Object.keys(TRIGGER_RULES) as readonly TriggerRule[];

export const isTriggerRule = (word: string): word is TriggerRule => Object.hasOwn(TRIGGER_RULES, word);
