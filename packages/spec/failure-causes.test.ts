import { describe, expect, it } from 'vitest';
import {
  FAILURE_CAUSES,
  NO_FAILURE,
  failureColumns,
  failureText,
  isFailureCause,
  mayReport,
  shownFailure,
} from './failure-causes.ts';
import type { FailureCause } from './failure-causes.ts';

const causes = Object.keys(FAILURE_CAUSES) as FailureCause[];

describe('a cause', () => {
  it('that is the platform’s own cannot be named by a task, nor the control plane’s by an agent', () => {
    for (const cause of causes) {
      const { witness } = FAILURE_CAUSES[cause];
      expect(mayReport('task', cause)).toBe(witness === 'task');
      expect(mayReport('agent', cause)).toBe(witness !== 'control_plane');
    }
  });

  it('is one of a closed list', () => {
    expect(isFailureCause('exception')).toBe(true);
    expect(isFailureCause('toString')).toBe(false);
  });
});

describe('a reason', () => {
  it('is a classification in our own words, whatever the task puts beside it', () => {
    for (const cause of causes) {
      expect(failureColumns(cause, 'postgres://u:hunter2@h').failure_reason).toBe(
        `${cause}: ${FAILURE_CAUSES[cause].text}`,
      );
    }
  });

  it('stored by a version that put the text into it, is taken apart when it is read', () => {
    const old = (reason: string) => shownFailure({ failure_reason: reason, failure_detail: null });
    expect(old('exception: OperationalError: postgres://u:hunter2@h/db is\naway')).toEqual({
      failure_reason: 'exception: the task raised an exception',
      failure_detail: 'OperationalError: postgres://u:***@h/db is away',
    });
    expect(old('agent_lost')).toEqual(failureColumns('agent_lost'));
    expect(old('boom password=x')).toEqual(failureColumns('unclassified', 'boom password=***'));
    // It knows nothing of the detail, so that of an earlier failure may still be there.
    expect(shownFailure({ failure_reason: 'exception: new', failure_detail: 'old' }).failure_detail).toBe('new');
    expect(shownFailure({ failure_reason: null, failure_detail: 'old' })).toEqual(NO_FAILURE);
  });

  it('stored by us is shown as it was stored', () => {
    for (const cause of causes) {
      for (const columns of [failureColumns(cause), failureColumns(cause, 'why: because')]) {
        expect(shownFailure(columns)).toEqual(columns);
      }
    }
  });
});

describe('a detail', () => {
  it('is one short line, whatever the task puts into it', () => {
    expect(failureColumns('exception', 'ValueError:\n\u001b[31mno\u0000').failure_detail).toBe('ValueError: [31mno');
    expect(failureColumns('exception', 'x'.repeat(5_000)).failure_detail).toHaveLength(300);
    expect(failureColumns('exception', ' \n').failure_detail).toBe(null);
  });

  it('has no credentials in it, also where it is cut', () => {
    const cut = failureColumns(
      'exception',
      `${'x'.repeat(280)} postgres://user:hunter2-and-more@host/db`,
    ).failure_detail;
    expect(cut).not.toContain('hunter');
    expect(failureColumns('exception', 'login failed: token=abcdef').failure_detail).toBe('login failed: token=***');
  });

  it('stands behind its cause where there is one line for both', () => {
    expect(failureText(failureColumns('exception', 'ValueError: no'))).toBe('exception: ValueError: no');
    expect(failureText(failureColumns('agent_lost'))).toBe(`agent_lost: ${FAILURE_CAUSES.agent_lost.text}`);
    expect(failureText(NO_FAILURE)).toBe(null);
  });
});
