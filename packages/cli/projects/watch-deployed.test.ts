import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import { expect, it } from 'vitest';
import type { Client } from '../client/client.ts';
import { watchDeployed } from './watch-deployed.ts';

type Compiled = Extract<CompiledUnit, { ok: true }>;

const unit = (name: string, { source = 'text', value = '1' } = {}) =>
  ({
    ok: true,
    unit: { name },
    artifacts: [{ dagId: name, spec: { source: { sha256: source, modules: [] }, files: [], value } }],
  }) as unknown as Compiled;
const broken = (name: string) =>
  ({ ok: false, unit: { name }, problems: [{ message: 'broken' }] }) as unknown as CompiledUnit;

/** One pass for each list of DAGs whose values have changed. */
async function watched(passes: (readonly string[] | Error)[], compiled: CompiledUnit[]) {
  const seen = { deployed: [] as string[][], warnings: [] as string[], pauses: [] as number[], compiles: 0 };
  const left = [...passes];
  await watchDeployed({
    client: {
      list: (() => {
        const next = left.shift() ?? [];
        return next instanceof Error ? Promise.reject(next) : Promise.resolve(next.map((id) => ({ dag_id: id })));
      }) as unknown as Client['list'],
    },
    units: [unit('a'), unit('b')],
    compile: () => Promise.resolve((seen.compiles += 1) > 0 ? compiled : []),
    deploy: async (units) => void seen.deployed.push(units.map(({ unit: { name } }) => name)),
    warn: (message) => seen.warnings.push(message),
    pause: (milliseconds) => Promise.resolve(seen.pauses.push(milliseconds) > passes.length),
  });
  return seen;
}

it('a changed value deploys only the files that read it, and nothing is compiled while no value has changed', async () => {
  const compiled = [unit('a', { value: '2' }), unit('b')];
  expect(await watched([[], [], ['a'], []], compiled)).toMatchObject({ deployed: [['a']], warnings: [], compiles: 1 });
});

it('a file that was edited since it was deployed is not deployed into the image of the older one', async () => {
  const seen = await watched([['a', 'b']], [unit('a', { source: 'edited' }), unit('b')]);
  expect(seen.deployed).toEqual([['b']]);
  expect(seen.warnings).toEqual(['a has changed on this machine: deploy it again']);
});

it('a file that does not compile any more, and an outage, are said and tried again later', async () => {
  const seen = await watched([['a'], new Error('away'), []], [broken('a')]);
  expect(seen.deployed).toEqual([]);
  expect(seen.warnings).toEqual([
    'a does not compile with the values there are now: broken',
    'values that DAG files read could not be compared: away',
  ]);
  expect(seen.pauses).toEqual([5_000, 60_000, 60_000, 5_000]);
});
