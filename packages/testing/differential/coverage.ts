/** Which features, and which pairs of them, occur together in generated DAGs. */
import { FEATURES } from './generate.ts';

type Coverage = { features: number; ofFeatures: number; pairs: number; ofPairs: number; missing: string[] };

const pairsOf = (names: readonly string[]): string[] =>
  names.flatMap((one, index) => names.slice(index + 1).map((other) => `${one} + ${other}`));

export function coverageOf(dags: Iterable<readonly string[]>): Coverage {
  const names = FEATURES.map(({ name }) => name).toSorted();
  const wanted = pairsOf(names);
  const [features, pairs] = [new Set<string>(), new Set<string>()];
  for (const found of dags) {
    for (const name of found) features.add(name);
    for (const pair of pairsOf(found.toSorted())) pairs.add(pair);
  }
  return {
    features: features.size,
    ofFeatures: names.length,
    pairs: wanted.filter((pair) => pairs.has(pair)).length,
    ofPairs: wanted.length,
    missing: wanted.filter((pair) => !pairs.has(pair)),
  };
}
