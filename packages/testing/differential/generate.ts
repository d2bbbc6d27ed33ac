/** Makes DAG files from seeds: the same seed gives the same file, with the features that it combines. */
import { createRandom } from '../chaos/random.ts';
import { Build } from './builder.ts';
import type { Feature, Phase } from './builder.ts';
import { CHANGE_FEATURES } from './features-changes.ts';
import { MAPPING_FEATURES } from './features-mapping.ts';
import { TASK_FEATURES } from './features-tasks.ts';
import type { FuzzDag } from './model.ts';

const ORDER: readonly Phase[] = ['dag', 'scope', 'task', 'change'];
/** More features in one DAG give more pairs, but failures of some tasks hide what others would do. */
const FEWEST = 6;
const MOST = 13;

export const FEATURES: readonly Feature[] = [...TASK_FEATURES, ...MAPPING_FEATURES, ...CHANGE_FEATURES];

type Generated = { dag: FuzzDag; features: readonly string[] };

export function generateDag(seed: number): Generated {
  const random = createRandom(Math.imul(seed, 0x9e3779b1));
  const left = [...FEATURES];
  const count = FEWEST + random.below(MOST - FEWEST + 1);
  const chosen = Array.from({ length: count }, () => left.splice(random.below(left.length), 1)).flat();
  const build = new Build({ seed, id: `fuzz_${seed}` });
  const features: string[] = [];
  for (const phase of ORDER)
    for (const feature of chosen) {
      if (feature.phase === phase && feature.apply(build)) features.push(feature.name);
    }
  if (build.dag.children.length === 0) build.add(build.scope());
  return { dag: build.dag, features: features.toSorted() };
}
