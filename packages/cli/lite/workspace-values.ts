/** What DAG files of a workspace read while they load. Files are read before the control plane is up, and wait for it. */
import type { AnswerValue } from '@svc/spec/values-read.ts';
import type { CompileValues } from '@svc/server/vault/compile-values.ts';

export type WorkspaceValues = {
  readonly answer: AnswerValue;
  open(values: CompileValues): void;
  /** Refuses what waits, so that the files come to their end. */
  giveUp(): void;
};

export function createWorkspaceValues(): WorkspaceValues {
  const { promise: opened, resolve, reject } = Promise.withResolvers<CompileValues>();
  opened.catch(() => {}); // reported to the files
  return {
    answer: async (asked) => (await opened).answer(asked),
    open: resolve,
    giveUp: () => reject(new Error('the control plane has not come up')),
  };
}
