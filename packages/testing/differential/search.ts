/** Judges generated DAGs in lots. With a progress file, a search that was interrupted continues where it stopped. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import type { Difference } from './outcome.ts';
import { judge, shrink, startJudge, unexplained } from './differential.ts';
import type { Judge } from './differential.ts';
import { generateDag } from './generate.ts';
import { renderDag } from './render.ts';

/** Run together: enough to keep both sides busy, few enough to see early what was found. */
const LOT = 50;

/** `file` is the smallest one with the same difference, without its imports. */
type Finding = { dag: string; differences: Difference[]; file: string };
type Lot = { first: number; count: number; byOrder: number; findings: Finding[] };
type Input = {
  first: number;
  times: number;
  shrinks: boolean;
  progressFile?: string;
  onFinding?: (finding: Finding) => void;
  say?: (message: string) => void;
};

/** `byOrder`: DAGs that differ only where the order of ends decides. */
type Found = { findings: Finding[]; byOrder: number };

export async function search({ first, times, shrinks, progressFile, onFinding, say }: Input): Promise<Found> {
  const done = progressFile === undefined ? [] : readLots(progressFile);
  const lots = [...done];
  const cluster = await startScratchCluster();
  const judges = await startJudge({ databaseUrl: await cluster.createDatabase() });
  try {
    for (let seed = first; seed < first + times; seed += LOT) {
      const count = Math.min(LOT, first + times - seed);
      if (done.some((lot) => lot.first === seed && lot.count === count)) continue;
      const lot = await judgeLot(judges, { first: seed, count, shrinks, onFinding });
      lots.push(lot);
      if (progressFile !== undefined) appendFileSync(progressFile, `${JSON.stringify(lot)}\n`);
      const differing = lots.reduce((sum, { findings }) => sum + findings.length, 0);
      say?.(`${seed + count - first} of ${times} DAGs: ${differing} differ without an explanation`);
    }
  } finally {
    await judges.close();
    await cluster.remove();
  }
  const wanted = lots.filter((lot) => lot.first >= first && lot.first + lot.count <= first + times);
  return {
    findings: wanted.flatMap(({ findings }) => findings),
    byOrder: wanted.reduce((sum, { byOrder }) => sum + byOrder, 0),
  };
}

async function judgeLot(
  judges: Judge,
  {
    first,
    count,
    shrinks,
    onFinding,
  }: { first: number; count: number } & Pick<Input, 'shrinks'> & {
      onFinding: Input['onFinding'];
    },
): Promise<Lot> {
  const dags = Array.from({ length: count }, (_, index) => generateDag(first + index).dag);
  const lot: Lot = { first, count, byOrder: 0, findings: [] };
  for (const one of await judge(judges, dags)) {
    if (unexplained(one).length === 0) {
      lot.byOrder += Number(one.differences.length > 0);
      continue;
    }
    const smallest = shrinks ? await shrink(judges, one) : one;
    const finding = { dag: one.dag.id, differences: unexplained(smallest), file: bodyOf(renderDag(smallest.dag)) };
    lot.findings.push(finding);
    onFinding?.(finding);
  }
  return lot;
}

const bodyOf = (file: string): string => file.slice(file.indexOf('with DAG('));

/** A line that was cut by a crash is run again. */
function readLots(path: string): Lot[] {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Lot];
      } catch {
        return [];
      }
    });
}
