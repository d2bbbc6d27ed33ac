/** What the dbt Cloud provider asks of dbt Cloud's API, over https: jobs that succeed at the second look, one that fails. */
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { loopbackCertificate, startLoopbackHttps } from '../services/loopback-https.ts';

export const DBT_ACCOUNT = '7';
const [RUNNING, SUCCESS, FAILED] = [3, 10, 20];
const FAILING_JOB = 2;

/** What it has of each; every account is that of its owner. */
const LISTS: Record<string, object[]> = {
  projects: [{ id: 1, name: 'my_dbt_project' }],
  environments: [{ id: 1, name: 'prod', project_id: 1 }],
  jobs: [{ id: 1, name: 'my_dbt_job', project_id: 1, environment_id: 1 }],
  runs: [{ id: 1, job_id: 1, status: SUCCESS }],
};

const ONE_PAGE = { filters: { limit: 100, offset: 0 }, pagination: { count: 1, total_count: 1 } };

type Run = { id: number; job: number; cause: string; looks: number };

/** Its certificate is written to `caFile`. */
export async function startDbtCloud({ caFile, token }: { caFile: string; token: string }) {
  const https = await startLoopbackHttps();
  writeFileSync(caFile, loopbackCertificate().cert);
  const runs: Run[] = [];
  https.answerWith((request, response) => {
    const say = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    void answer(request)
      .then(([status, body]) => say(status, body))
      .catch((error: unknown) => say(500, { error: String(error) }));
  });

  async function answer(request: IncomingMessage): Promise<[number, object]> {
    if (request.headers.authorization !== `Token ${token}`) return [401, { error: 'whose?' }];
    const path = new URL(request.url ?? '/', https.url).pathname.replace(/^\/api\/v\d\/accounts\/\d+/, '');
    const [, kind, id, more, file] = path.split('/');
    const list = LISTS[path.replace(/\/$/, '').split('/').at(-1) ?? ''];
    if (list) return [200, { data: list, extra: ONE_PAGE }];
    if (kind === 'jobs' && more === 'run') {
      const { cause = '' } = JSON.parse(await textOf(request)) as { cause?: string };
      const run: Run = { id: 100 + runs.length, job: Number(id), cause, looks: 0 };
      runs.push(run);
      return [200, { data: { id: run.id, href: `${https.url}/runs/${run.id}` } }];
    }
    const run = runs.find((one) => one.id === Number(id));
    if (kind !== 'runs' || !run) return [404, { error: path }];
    if (more === 'artifacts') return [200, { results: [file] }];
    run.looks += 1;
    const last = run.job === FAILING_JOB ? FAILED : SUCCESS;
    const status = run.looks > 1 ? last : RUNNING;
    return [200, { data: { id: run.id, status, href: `${https.url}/runs/${run.id}`, run_steps: [] } }];
  }

  return { host: new URL(https.url).host, url: https.url, runs, stop: () => https.stop() };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
