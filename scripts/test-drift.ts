// Compares the newest Airflow of the package index with a stored expectation: the OpenAPI documents, the public names of the
// task SDK and the standard provider, the client, the commands of airflowctl, and how the example DAGs load and end.
//
//   npm run test:drift                    # prints what is new, gone or changed; exit code 1 if there is something
//   npm run test:drift -- --json          # one JSON line for each difference
//   npm run test:drift -- --update        # makes what was found the expectation
//   npm run test:drift -- --without-runs  # without the example DAGs: a minute in place of half an hour
//
// Needs a reachable package index. Airflow is installed into .cache/airflow-newest.

import { parseArgs } from 'node:util';
import { installerOf } from '@svc/testing/airflow/installer.ts';
import { compareFacts, renderDrift } from '@svc/testing/drift/compare-facts.ts';
import type { Facts } from '@svc/testing/drift/compare-facts.ts';
import { exampleFacts } from '@svc/testing/drift/example-facts.ts';
import { readExpectation, writeExpectation } from '@svc/testing/drift/expectation.ts';
import { newestAirflow } from '@svc/testing/drift/newest-airflow.ts';

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, update: { type: 'boolean' }, 'without-runs': { type: 'boolean' } },
});

const expected = readExpectation();
const newest = await newestAirflow(installerOf(process.env['PYTHON'] ?? 'python3'));
const found: Facts = { ...newest.facts };
const examples = values['without-runs'] ? undefined : await exampleFacts(newest);
Object.assign(found, examples?.facts ?? exampleFactsOf(expected));

const rows = compareFacts(expected, found);
if (values.json) for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
else process.stdout.write(renderDrift(rows));
if (values.update) {
  writeExpectation(found);
  examples?.store();
} else if (rows.length > 0) process.exitCode = 1;

/** What was not looked at stays as it was. */
function exampleFactsOf(facts: Facts): Facts {
  return Object.fromEntries(Object.entries(facts).filter(([part]) => !(part in newest.facts)));
}
