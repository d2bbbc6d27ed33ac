/**
 * An environment with Airflow 3.2.2 and the provider packages that our own tests run (providers/requirements.txt), in the same versions:
 * what their example DAGs are recorded with. Nothing of it ships.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { CACHE } from '../paths.ts';
import { virtualEnvironment } from '../virtual-environment.ts';
import { installAirflow } from './airflow-processes.ts';

const OURS = join(import.meta.dirname, '..', 'providers', 'requirements.txt');

const nameOf = (pin: string): string => (pin.split('==')[0] ?? '').toLowerCase().replaceAll(/[._]/g, '-');
const isProvider = (pin: string): boolean => nameOf(pin).startsWith('apache-airflow-providers-');
const pinsOf = (text: string): string[] => text.split('\n').filter((line) => /^[\w.-]+==/.test(line));

/**
 * Airflow starts with the packages of its own time only, so its pins go before ours; of providers ours do. No index has a set that every
 * package would call right: Google's newest libraries ask for other versions than Airflow pins.
 */
function pinsWithProviders(airflow: readonly string[], ours: readonly string[]): string[] {
  const kept = airflow.filter((pin) => !isProvider(pin));
  const names = new Set(kept.map(nameOf));
  return [...kept, ...ours.filter((pin) => !names.has(nameOf(pin)))].toSorted();
}

/** Its interpreter. */
export async function airflowWithProviders(): Promise<string> {
  await installAirflow();
  const airflow = join(CACHE, 'airflow-3.2.2', 'bin', 'python');
  const uv = join(CACHE, 'airflow-bootstrap', 'bin', 'uv');
  const freeze = execFileSync(uv, ['pip', 'freeze', '--quiet', '--python', airflow], { encoding: 'utf8' });
  const folder = join(CACHE, 'airflow-3.2.2-requirements');
  mkdirSync(folder, { recursive: true });
  const requirements = join(folder, 'with-providers.txt');
  writeFileSync(requirements, `${pinsWithProviders(pinsOf(freeze), pinsOf(readFileSync(OURS, 'utf8'))).join('\n')}\n`);
  return virtualEnvironment({ name: 'airflow-3.2.2-providers', requirements: [requirements] });
}
