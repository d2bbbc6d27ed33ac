/**
 * An API server that has just started may refuse what it grants a moment later: it answers before it has read its roles, namespaces
 * and service accounts. So such a refusal is believed when it has been heard for a while.
 */
const PASSES_WITHIN_MS = 30_000;

export type PassingRefusals = {
  /** It was refused (again). True once that has gone on for so long that it will not pass. */
  isToBeBelieved(): boolean;
  /** Something else was said. */
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
