// node rehearsal.mjs PROGRAM WORDS…
// Plays the control plane for an agent that is given one attempt, when an image is built: so that the code of a whole attempt
// is compiled and kept (start.cjs), and an image whose agent cannot run a task is not made at all.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { Agent } from '@svc/proto/agent-service.ts';

const LINE = 'the author was here';
const SOURCE = `
from airflow.sdk import DAG, task

with DAG("rehearsal", schedule=None):
    @task
    def first():
        print(${JSON.stringify(LINE)})
        return 1
    first()
`;
const ATTEMPT = '00000000-0000-7000-8000-000000000000';
const MOMENT = '2026-01-01T00:00:00Z';
const VERSION = {
  version_key: 'rehearsal',
  dag_id: 'rehearsal',
  python_dag_id: 'rehearsal',
  source_path: 'rehearsal.py',
  source_module: 'rehearsal',
  source_text: SOURCE,
  version_number: 1,
};
const JOB = {
  kind: 'task',
  dag_id: 'rehearsal',
  task_id: 'first',
  map_index: -1,
  try_number: 1,
  start_date: MOMENT,
  run: { run_id: 'rehearsal', run_type: 'manual', logical_date: MOMENT, run_after: MOMENT, conf: {} },
  params: {},
  env: {},
  masks: [],
  xcoms: [],
  prefetched: [],
};

/** What was said to us. */
let log = Buffer.alloc(0);
let outcome = '';

const take = (offset, data) => {
  log = Buffer.concat([log.subarray(0, Number(offset)), data]);
  return log.length;
};

const answers = {
  Start: () => ({ started: { job_json: JSON.stringify(JOB), log_offset: 0, lease_ms: 60_000 } }),
  GetVersion: () => VERSION,
  Heartbeat: ({ tokens }) => ({ beats: tokens.map(() => ({})), lease_ms: 60_000 }),
  AppendLog: ({ offset, data }) => ({ length: take(offset, data) }),
  Finish({ outcome_json: text, log_offset: offset, log_data: data }) {
    outcome = text;
    return { recorded: true, log_length: take(offset, data) };
  },
  Call: () => ({ value_json: 'null' }),
};

const server = new Server();
const handlers = Object.entries(answers).map(([name, answer]) => [
  name,
  ({ request }, reply) => reply(null, answer(request)),
]);
server.addService(Agent.service, Object.fromEntries(handlers));
const port = await new Promise((resolve, reject) =>
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
    error ? reject(error) : resolve(bound),
  ),
);

const attempt = { dagId: 'rehearsal', taskId: 'first', mapIndex: -1, tryNumber: 1, versionNumber: 1 };
const payload = Buffer.from(JSON.stringify({ sub: ATTEMPT, tenant_id: 'default', attempt })).toString('base64url');
const env = {
  ...process.env,
  SVC_AGENT_TOKEN: `e30.${payload}.e30`,
  SVC_AGENT_CONTROL_PLANE_ADDR: `127.0.0.1:${port}`,
};
const [program, ...words] = process.argv.slice(2);
const agent = spawn(program, [...words, 'run'], { env, stdio: 'inherit' });
const [code] = await once(agent, 'exit');
server.forceShutdown();
if (code !== 0 || !outcome.includes('"success"') || !log.includes(LINE)) {
  console.error(`the rehearsal of an attempt ended with ${code}: ${outcome}\n${log}`);
  process.exitCode = 1;
}
