/** Finds the processes of a chaos run among all others: agents by the address they were given, the rest by their parents. */
import { readFileSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

export type Victims = {
  agents: number[];
  /** Python processes that have a DAG version loaded. */
  forkServers: number[];
  /** What they have forked, one for each attempt; one may be waiting for its attempt. */
  tasks: number[];
};

export async function findVictims(agentAddresses: readonly string[]): Promise<Victims> {
  const markers = agentAddresses.map((address) => Buffer.from(`SVC_AGENT_CONTROL_PLANE_ADDR=${address}\0`));
  const parents = new Map<number, number>();
  const agents: number[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const parent = parentOf(pid);
    if (parent !== undefined) parents.set(pid, parent);
    const environment = await readFile(`/proc/${pid}/environ`).catch(() => undefined); // gone, or somebody else's
    if (markers.some((marker) => environment?.includes(marker))) agents.push(pid);
  }
  const childrenOf = (of: readonly number[]): number[] =>
    [...parents].filter(([, parent]) => of.includes(parent)).map(([pid]) => pid);
  const forkServers = childrenOf(agents);
  return { agents, forkServers, tasks: childrenOf(forkServers) };
}

/** Field four of the line; the name before it may hold anything, but ends with the last bracket. */
function parentOf(pid: number): number | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** False when it was gone already. */
export function killProcess(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
