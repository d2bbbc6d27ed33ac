/**
 * What Airflow said about 200 generated DAGs (scripts/differential-golden.ts), kept as compressed JSON. Those that add most features
 * come first, so that the first 32 have all.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { generateDag } from './generate.ts';
import { nodesOf } from './model.ts';
import type { Facts } from './outcome.ts';

const FILE = join(import.meta.dirname, 'golden', 'airflow-3.2.2.json.gz');
export const RECORDED = 200;
const CANDIDATES = 3_000;
/** What a process costs counts most, so small DAGs are taken. */
const MOST_NODES = 9;

type Candidate = { seed: number; features: readonly string[]; nodes: number };

function candidateOf(seed: number): Candidate {
  const { dag, features } = generateDag(seed);
  return { seed, features, nodes: [...nodesOf(dag.children)].length };
}

const pairsOf = (features: readonly string[]): string[] =>
  features.flatMap((one, at) => features.slice(at + 1).map((other) => `${one} + ${other}`));

/** Takes those first that add most for what they cost. */
function greedily(
  all: readonly Candidate[],
  count: number,
  giveOf: (one: Candidate) => readonly string[],
): Candidate[] {
  const left = all.map((one) => ({ one, gives: giveOf(one) }));
  const seen = new Set<string>();
  const chosen: Candidate[] = [];
  while (chosen.length < count && left.length > 0) {
    const gain = ({ one, gives }: (typeof left)[number]): number =>
      gives.filter((each) => !seen.has(each)).length / (one.nodes + 2);
    const best = left.reduce((one, other) => (gain(other) > gain(one) ? other : one));
    left.splice(left.indexOf(best), 1);
    for (const each of best.gives) seen.add(each);
    chosen.push(best.one);
  }
  return chosen;
}

/** The seeds of small DAGs with most pairs of features. */
export function chosenSeeds(count: number): number[] {
  const all = Array.from({ length: CANDIDATES }, (_, index) => candidateOf(index + 1));
  const small = all.filter(({ nodes }) => nodes <= MOST_NODES);
  return greedily(small, count, ({ features }) => pairsOf(features)).map(({ seed }) => seed);
}

export type Golden = Record<string, Facts>;

export const readGolden = (): Golden =>
  existsSync(FILE) ? (JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as Golden) : {};

export function writeGolden(golden: Golden): void {
  const all = Object.keys(golden).map((id) => candidateOf(Number(id.replace('fuzz_', ''))));
  const inOrder = greedily(all, all.length, ({ features }) => features).map(({ seed }) => `fuzz_${seed}`);
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(
    FILE,
    gzipSync(JSON.stringify(Object.fromEntries(inOrder.map((id) => [id, golden[id]]))), { level: 9 }),
  );
}
