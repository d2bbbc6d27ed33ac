/**
 * DAGs of python/tests/run_dags that run only in `npm run test:nightly`, each with the DAG that decides its feature in
 * `npm test`. A DAG that is missing here runs by day, so a new one does.
 */
export const STATES_AT_NIGHT: Readonly<Record<string, string>> = {
  // Branches and short circuits.
  branch_after_branch: 'branch_one_of_three',
  branch_nothing: 'idiom_branch_values',
  branch_that_fails: 'branch_to_unknown_task',
  branch_to_a_failure: 'rule_none_failed_min_one_success',
  idiom_branch_classic_mapped: 'idiom_extra_kwargs_branch',
  idiom_branch_in_group: 'group_with_branch',
  short_circuit_and_others: 'short_circuit_respecting_rules',
  short_circuit_open: 'idiom_short_values',

  // Trigger rules: `idiom_rules_outside` has all of them in a mapped group, with fewer mixes of ends before them.
  rule_all_done: 'idiom_rules_outside',
  rule_all_done_min_one_success: 'idiom_rules_outside',
  rule_all_done_setup_success: 'idiom_rules_outside',
  rule_all_failed: 'idiom_rules_outside',
  rule_all_skipped: 'idiom_rules_outside',
  rule_always: 'idiom_rules_outside',
  rule_none_failed: 'idiom_rules_outside',
  rule_none_skipped: 'idiom_rules_outside',
  rule_one_done: 'idiom_rules_outside',
  rule_one_failed: 'idiom_rules_outside',
  rule_one_success: 'idiom_rules_outside',
  idiom_rules_all_skip: 'idiom_rules_xcom',
  idiom_rules_all_three: 'idiom_rules_xcom',
  idiom_rules_fail_ok: 'idiom_rules_outside',
  idiom_rules_ok_fail: 'idiom_rules_outside',

  // Mapped tasks and groups.
  mapped_ok: 'mapped_product',
  mapped_one_fails: 'mapped_product',
  mapped_all_fail: 'mapped_product',
  mapped_one_skipped: 'mapped_by_function',
  mapped_all_skipped: 'mapped_by_function',
  mapped_retries: 'retries',
  mapped_literal_none: 'mapped_none_at_all',
  mapped_literal_after_skip: 'mapped_over_skip',
  mapped_over_nothing_pushed: 'mapped_over_no_list',
  mapped_by_broken_function: 'mapped_by_function',
  mapped_branch: 'idiom_branch_values',
  mapped_branch_all_the_same: 'idiom_branch_values',
  mapped_short_circuit: 'idiom_short_values',
  group_of_literal_items: 'group_of_items',
  group_over_skip: 'group_over_failure',
  group_values_reduced: 'idiom_mapped_group',
  group_kwargs: 'idiom_mapped_group',
  group_with_inner_group: 'idiom_rules_nested',
  idiom_mapped_bash_decorated: 'idiom_mapped_bash',
  idiom_mapped_variable: 'idiom_partial_deep',

  // Setups and teardowns: by day, each end of the setup and each end of the work occurs.
  teardown_fail_fail: 'teardown_fail_ok',
  teardown_fail_skip: 'teardown_fail_ok',
  teardown_ok_ok: 'teardown_fails_quietly',
  teardown_ok_skip: 'teardown_skip_skip',
  teardown_skip_fail: 'teardown_ok_fail',
  teardown_skip_ok: 'teardown_skip_skip',
  teardown_after_short_circuit: 'teardown_after_branch',
  two_setups_all_skipped: 'setup_skipped_and_failed',
  two_setups_one_teardown: 'setup_skipped_and_failed',
  setup_without_teardown: 'teardown_fail_ok',

  // Earlier runs, dates, and how a run ends.
  past_succeeded: 'past_fails_on_second_day',
  past_second_fails: 'past_fails_on_second_day',
  idiom_past_after_skip: 'past_skipped',
  past_skips_on_second_day: 'past_fails_on_second_day',
  idiom_prior_dates_mapped: 'idiom_prior_dates',
  dates_alone: 'dates_by_hand',
  dates_by_default: 'dates_by_hand',
  dates_of_tasks: 'dates_by_hand',
  leaf_failed: 'leaf_upstream_failed',
};
