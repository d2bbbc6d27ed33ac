/**
 * An API server that has just started may refuse what it grants a moment later, because it has not read its roles,
 * namespaces and service accounts yet. Such a refusal counts only when it lasts for a while.
 */
const PASSES_WITHIN_MS = 30_000;

export type PassingRefusals = {
  /** Notes a refusal. Returns true when the refusals have lasted so long that they will not pass. */
  isToBeBelieved(): boolean;
  /** Notes another answer. */
  forget(): void;
};

export function createPassingRefusals(withinMs = PASSES_WITHIN_MS): PassingRefusals {
  let since: number | undefined;
  return {
    isToBeBelieved() {
      since ??= performance.now();
      return performance.now() - since >= withinMs;
    },
    forget: () => void (since = undefined),
  };
}
