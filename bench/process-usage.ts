/** Reads what a process has used so far from /proc. Other systems than Linux omit these figures. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

export type Usage = { cpuSeconds: number; rssMebibytes: number };

let ticksPerSecond: number | undefined;

export function usageOf(pid: number): Usage | undefined {
  const stat = readStat(pid);
  if (!stat) return undefined;
  const rss = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuSeconds: stat.ownSeconds, rssMebibytes: Number(rss) / 1_024 };
}

/** Returns the processor time of a process with all its children, including ended ones. */
export function cpuSecondsWithChildren(pid: number): number | undefined {
  const stat = readStat(pid);
  if (!stat) return undefined;
  const others = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = others.map((name) => readStat(Number(name))).filter((other) => other?.parent === pid);
  return children.reduce((sum, child) => sum + (child?.ownSeconds ?? 0), stat.ownSeconds + stat.endedChildrenSeconds);
}

/**
 * Returns the processor time of a process and of all processes below it. It includes ended ones that their parent has
 * waited for.
 */
export function cpuSecondsOfTree(pid: number): number {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => ({
      id: Number(name),
      ...(readStat(Number(name)) ?? { parent: 0, ownSeconds: 0, endedChildrenSeconds: 0 }),
    }));
  const below = Map.groupBy(stats, ({ parent }) => parent);
  const sum = (id: number): number =>
    (below.get(id) ?? []).reduce(
      (total, child) => total + child.ownSeconds + child.endedChildrenSeconds + sum(child.id),
      0,
    );
  const own = stats.find(({ id }) => id === pid);
  return (own?.ownSeconds ?? 0) + (own?.endedChildrenSeconds ?? 0) + sum(pid);
}

function readStat(pid: number): { parent: number; ownSeconds: number; endedChildrenSeconds: number } | undefined {
  try {
    // The second field is the name in parentheses, which may contain spaces, so fields are counted from its end.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ').map(Number) ?? [];
    ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
    const seconds = (first: number, second: number): number =>
      ((fields[first] ?? 0) + (fields[second] ?? 0)) / (ticksPerSecond ?? 100);
    return { parent: fields[1] ?? 0, ownSeconds: seconds(11, 12), endedChildrenSeconds: seconds(13, 14) };
  } catch {
    return undefined; // not Linux, or the process has ended
  }
}
