const MEGABYTE = 1024 * 1024;

/**
 * How many megabytes memory rose above where it was while something went on. Only in a process of its own: room that
 * other test files left behind would hide a rise, so who uses this runs alone (vitest/tiers.ts).
 */
export async function memoryDuring(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  await work().finally(() => clearInterval(watch));
  return (most - before) / MEGABYTE;
}
