// Runs example DAGs of provider packages here, each once, against servers on loopback, and compares how every task and run ended with how
// it ended on Airflow 3.2.2 with the same servers. Prints one JSON line for each DAG, and one with the counts.
//
//   node scripts/provider-example-states.ts [part of a path …]
//   node scripts/provider-example-states.ts --record [part of a path …]     # runs them on Airflow first and keeps how they ended
//
// Needs a reachable package index, the first time.

import { providersEnvironment } from '@svc/testing/providers/environment.ts';
import { carriedExamples } from '@svc/testing/provider-examples/examples.ts';
import { explained, keepRecorded, readRecorded, stateDifferences } from '@svc/testing/provider-examples/golden.ts';
import { recordOnAirflow } from '@svc/testing/provider-examples/record.ts';
import { providerExamples } from '@svc/testing/provider-examples/repository.ts';
import { runHere } from '@svc/testing/provider-examples/run-here.ts';
import { startExampleServers } from '@svc/testing/provider-examples/servers.ts';

const print = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const python = await providersEnvironment();
const dags = providerExamples();
const files = carriedExamples(dags).filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)));

if (process.argv.includes('--record')) {
  const servers = await startExampleServers(python);
  try {
    for await (const { file, dag, end, ...more } of recordOnAirflow({ dags, files, servers })) {
      if (dag !== undefined && end) keepRecorded(file, dag, end);
      print({ on: 'Airflow', file, dag, state: end?.state, ...more });
    }
  } finally {
    await servers.stop();
  }
}

const recorded = readRecorded();
const servers = await startExampleServers(python);
let same = 0;
let ran = 0;
try {
  await runHere({
    python,
    dags,
    files: files.filter((file) => recorded[file] !== undefined),
    servers,
    onEnd: ({ file, dag, end, refused, log }) => {
      const there = recorded[file]?.[dag];
      const differences = there ? stateDifferences(file, dag, there, end) : [];
      ran += 1;
      if (there && differences.length === 0) same += 1;
      const differs = { differences, why: explained(file), refused, log };
      const shown = there && differences.length === 0 ? { same: there.state } : differs;
      print({ file, dag, ...shown });
    },
  });
} finally {
  await servers.stop();
}
print({ dags: ran, same });
