/** What the newest Airflow was when `npm run test:drift -- --update` looked at it last. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Facts } from './compare-facts.ts';

const FILE = join(import.meta.dirname, 'golden', 'newest-airflow.json.gz');

export const readExpectation = (): Facts =>
  existsSync(FILE) ? (JSON.parse(gunzipSync(readFileSync(FILE)).toString('utf8')) as Facts) : {};

export function writeExpectation(facts: Facts): void {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, gzipSync(`${JSON.stringify(facts, null, 1)}\n`, { level: 9 }));
}
