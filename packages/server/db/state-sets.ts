/**
 * Sets of states as SQL lists, for conditions such as `state in ${ACTIVE.fixed}`. A condition must have the text of the
 * partial index that it uses, so both come from the same constants (`state-sets.test.ts`). Where a condition also has
 * a smaller list, the larger list is there for its index.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import {
  ACTIVE_STATES,
  FINISHED_RUN_STATES,
  FINISHED_STATES,
  LIVE_STATES,
  OCCUPYING_STATES,
  OPEN_RUN_STATES,
  PARKED_STATES,
  REPORTING_STATES,
} from '@svc/spec/states.ts';
import { fixedText } from './fixed-sql.ts';
import type { FixedSql } from './fixed-sql.ts';

type StateSet = {
  /** In a `fixedSql` template. */
  fixed: FixedSql<never>;
  /** In a `sql` template of Kysely. */
  raw: RawBuilder<unknown>;
  /** In plain text. */
  text: string;
};

function setOf(states: readonly string[]): StateSet {
  const text = `(${states.map((state) => `'${state}'`).join(', ')})`;
  return { fixed: fixedText(text), raw: sql.raw(text), text };
}

export const ACTIVE = setOf(ACTIVE_STATES);
export const PARKED = setOf(PARKED_STATES);
export const LIVE = setOf(LIVE_STATES);
export const OCCUPYING = setOf(OCCUPYING_STATES);
export const REPORTING = setOf(REPORTING_STATES);
export const FINISHED = setOf(FINISHED_STATES);
export const OPEN_RUN = setOf(OPEN_RUN_STATES);
export const FINISHED_RUN = setOf(FINISHED_RUN_STATES);
