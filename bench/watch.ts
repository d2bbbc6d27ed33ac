// Measures what it costs lite to notice changes in a workspace of 2,000 files, and whether it notices them.
//
// idle: processor time without changes, with the looks that complement the system's events; target 0.2 % of a core.
// saves: as programs save (packages/testing/files/seeded-saves.ts), in waves; one not noticed within 2 s is missed.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lookAtOnce } from '@svc/cli/lite/folder-look.ts';
import { watchFolder } from '@svc/cli/lite/watch-folder.ts';
import { seededSaves } from '@svc/testing/files/seeded-saves.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

const FILES = 2_000;
const LOOKS = 25;
const MISSED_AFTER_MS = 2_000;
const SETTLE_MS = 2_000;

const warn = (message: string): never => {
  throw new Error(message);
};

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

export async function run({ number, print }: BenchOptions): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'svc-bench-watch-')));
  const folder = join(home, 'workspace');
  mkdirSync(folder);
  const saving = seededSaves({ folder, elsewhere: home, seed: number('seed', 32), files: FILES });
  const figure = { bench: 'watch', files: FILES };
  const told = new Map<string, number[]>();
  const onChange = (path = '.'): void => void told.set(path, [...(told.get(path) ?? []), performance.now()]);
  try {
    const looks = Array.from({ length: LOOKS }, () => lookAtOnce(folder)?.milliseconds ?? Number.NaN);
    print({ ...figure, figure: 'look', value: rounded(median(looks)), unit: 'ms' });
    const memory = process.memoryUsage().rss;
    const opening = cpuMs();
    const watcher = watchFolder({ folder, onChange, warn });
    await sleep(SETTLE_MS);
    print({ ...figure, figure: 'open_cpu', value: rounded(cpuMs() - opening), unit: 'ms' });
    const grown = (process.memoryUsage().rss - memory) / 2 ** 20;
    print({ ...figure, figure: 'memory', value: rounded(grown), unit: 'MiB' });

    const seconds = number('seconds', 30);
    const before = cpuMs();
    await sleep(seconds * 1_000);
    const share = (cpuMs() - before) / (seconds * 1_000);
    print({ ...figure, figure: 'idle_cpu', value: rounded(share * 100, 3), unit: '% of a core', seconds });

    const times = number('times', 500);
    const waits: number[] = [];
    let missed = 0;
    while (waits.length + missed < times) {
      const saves = saving.wave();
      const whenTold = ({ path, moment }: (typeof saves)[number]): number | undefined =>
        told.get(path)?.find((at) => at >= moment);
      const end = performance.now() + MISSED_AFTER_MS;
      while (performance.now() < end && saves.some((save) => whenTold(save) === undefined)) await sleep(10);
      for (const save of saves) {
        const at = whenTold(save);
        if (at === undefined) missed += 1;
        else waits.push(at - save.moment);
      }
    }
    const of = { ...figure, saves: waits.length + missed };
    print({ ...of, figure: 'missed', value: missed, unit: 'saves' });
    print({ ...of, figure: 'wait_p50', value: Math.round(median(waits)), unit: 'ms' });
    print({ ...of, figure: 'wait_max', value: Math.round(Math.max(...waits)), unit: 'ms' });
    await watcher.close();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
