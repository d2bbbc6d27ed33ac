/**
 * Selects failures to show: first one of each task, then further instances, so that a mapped task does not hide the
 * others.
 */
export function pickVaried<T extends { task_id: string }>(failures: readonly T[], max: number): T[] {
  const rounds = new Map<string, number>();
  const ranked = failures.map((failure, index) => {
    const round = rounds.get(failure.task_id) ?? 0;
    rounds.set(failure.task_id, round + 1);
    return { failure, round, index };
  });
  return ranked
    .sort((a, b) => a.round - b.round || a.index - b.index)
    .slice(0, max)
    .map(({ failure }) => failure);
}
