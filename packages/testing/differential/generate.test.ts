import { describe, expect, it } from 'vitest';
import { coverageOf } from './coverage.ts';
import { generateDag } from './generate.ts';
import { nodesOf } from './model.ts';
import { renderDag } from './render.ts';
import { shrunkDags } from './shrink.ts';

const SEEDS = Array.from({ length: 1_000 }, (_, index) => index + 1);

describe('generated DAG files', () => {
  it('are the same for the same seed, whatever was generated before, so that a finding can be repeated', () => {
    const render = (seed: number): string => renderDag(generateDag(seed).dag);
    const seeds = SEEDS.slice(0, 200);
    const texts = seeds.map(render);
    expect(seeds.toReversed().map(render).toReversed()).toEqual(texts);
  });

  it('combine nearly all pairs of features, so that none is only tested alone', () => {
    const { features, ofFeatures, pairs, ofPairs } = coverageOf(SEEDS.map((seed) => generateDag(seed).features));
    expect(features).toBe(ofFeatures);
    expect(pairs / ofPairs).toBeGreaterThan(0.95);
  });

  it('become smaller in every step of a shrink, so that it ends', () => {
    for (const seed of SEEDS.slice(0, 20)) {
      const { dag } = generateDag(seed);
      const size = [...nodesOf(dag.children)].length;
      for (const smaller of shrunkDags(dag)) {
        expect([...nodesOf(smaller.children)].length).toBeLessThanOrEqual(size);
        expect(renderDag(smaller)).not.toBe(renderDag(dag));
      }
    }
  });
});
