// Writes packages/testing/differential/golden/airflow-3.2.2.json.gz: what happens to 200 generated DAGs on a real Airflow
// (differential.test.ts). Needs minutes.

import { factsOnAirflow } from '@svc/testing/differential/differential.ts';
import { generateDag } from '@svc/testing/differential/generate.ts';
import { RECORDED, chosenSeeds, writeGolden } from '@svc/testing/differential/golden.ts';

/** In place of those that do not end on Airflow. */
const SPARE = 20;

const dags = chosenSeeds(RECORDED + SPARE).map((seed) => generateDag(seed).dag);
const found = await factsOnAirflow(dags);
const ended = dags.flatMap(({ id }) => {
  const facts = found.get(id);
  return facts === undefined || facts['run state']?.startsWith('broken') ? [] : [[id, facts] as const];
});
writeGolden(Object.fromEntries(ended.slice(0, RECORDED)));
process.stdout.write(`${ended.length} of ${dags.length} DAGs have ended on Airflow\n`);
