/** What the cluster's scripts say while they work: one line each, with the seconds since the beginning. */
const BEGIN = performance.now();

export function report(line: string): void {
  const seconds = ((performance.now() - BEGIN) / 1_000).toFixed(1).padStart(6);
  process.stderr.write(`cluster ${seconds} s  ${line}\n`);
}
