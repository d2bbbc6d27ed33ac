import { describe, expect, it } from 'vitest';
import { FAILURE_CAUSES, failureReason, isFailureCause, mayReport } from './failure-causes.ts';
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
  it('is one short line, whatever the task puts into it', () => {
    expect(failureReason('exception', 'ValueError:\n\u001b[31mno\u0000')).toBe('exception: ValueError: [31mno');
    expect(failureReason('exception', 'x'.repeat(5_000))).toHaveLength(300);
  });

  it('without a text says what the cause means', () => {
    expect(failureReason('agent_lost')).toBe(`agent_lost: ${FAILURE_CAUSES.agent_lost.text}`);
  });
});
