/**
 * Measures the time from the start of a task's container to the author's first line, by the clocks of its processes.
 * The agent is process 1, and the parent of the task is the Python server that the agent started. Run it in the test
 * cluster:
 *
 *   npm run cluster -- npm run bench -- pod-start
 */
import { REGISTRY } from '@svc/testing/kubernetes/cluster.ts';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { BASE_REPOSITORY, PYTHON_LINE } from '@svc/testing/kubernetes/images.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { VERSION } from '@svc/cli/version.ts';
import { median } from './figure.ts';
import type { BenchOptions } from './figure.ts';

const DAG = `
from airflow.sdk import dag, task

@dag(schedule=None)
def pod_start():
    @task
    def first_line():
        with open("/proc/uptime") as file:
            now = float(file.read().split()[0])
        import json, os

        def started(pid):
            with open(f"/proc/{pid}/stat") as file:
                return int(file.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")

        def used(pid):
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        begin, parent = started(1), os.getppid()
        return {
            "first_line": now - begin,
            "python_started": started(parent) - begin,
            "task_forked": started(os.getpid()) - begin,
            "agent_cpu": used(1),
            "python_cpu": used(parent),
        }

    first_line()

pod_start()
`;

const ABOUT: Record<string, string> = {
  first_line: 'container start to the first line of the task',
  python_started: 'container start to the start of Python',
  task_forked: "container start to the task's own process",
  agent_cpu: 'CPU time of the agent by then',
  python_cpu: 'CPU time of the Python server by then',
};

export async function run({ number, print, say }: BenchOptions): Promise<void> {
  await using namespace = await createTestNamespace('pod-start');
  const server = await startClusterControlPlane(namespace.name);
  const seen = new Map<string, number[]>();
  try {
    await server.addDag('pod_start', DAG);
    const times = number('times', 10);
    for (let index = 0; index <= times; index += 1) {
      const runId = await server.trigger('pod_start');
      const { state } = await server.ended('pod_start', runId, 200);
      if (state !== 'success') throw new Error(await server.log('pod_start', runId, 'first_line'));
      const path = `/dags/pod_start/dagRuns/${encodeURIComponent(runId)}/taskInstances/first_line/xcomEntries/return_value`;
      const { value } = await server.api<{ value: Record<string, number> }>('GET', path);
      say(JSON.stringify(value));
      // The first pod pulls the image and reads it from the disk.
      if (index > 0)
        for (const [name, seconds] of Object.entries(value)) seen.set(name, [...(seen.get(name) ?? []), seconds]);
    }
  } finally {
    await server.close();
  }
  for (const [name, seconds] of seen) {
    print({ bench: 'pod-start', figure: ABOUT[name] ?? name, value: Math.round(median(seconds) * 1_000), unit: 'ms' });
  }
  print({ bench: 'pod-start', figure: 'base image, compressed', value: await imageMegabytes(), unit: 'MB' });
}

type Manifest = { layers: { size: number }[] };

async function imageMegabytes(): Promise<number> {
  const name = BASE_REPOSITORY.slice(REGISTRY.length + 1);
  const response = await fetch(`http://${REGISTRY}/v2/${name}/manifests/${PYTHON_LINE}-${VERSION}`, {
    headers: {
      accept: 'application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json',
    },
  });
  const { layers } = (await response.json()) as Manifest;
  return Math.round(layers.reduce((sum, { size }) => sum + size, 0) / 1e5) / 10;
}
