// A real one-node Kubernetes for tests, in namespaces of its own: etcd, API server, controller manager, scheduler, kubelet,
// kube-proxy, DNS, containerd, and a registry with our images.
//
//   npm run cluster -- kubectl get pods -A     # comes up, runs the command, goes away
//   npm run cluster -- bash                    # the same with a shell
//   npm run cluster -- up                      # stays: commands from then on run in it
//   npm run cluster -- down
//   npm run cluster -- build                   # only compiles its programs, where the cache does not have them
//
// Where KUBECONFIG is set, commands use that cluster and none is started.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubernetesImages } from './build-images.ts';
import { kubernetesPrograms } from './build-programs.ts';
import { LASTING_STATE, announceCluster, downCluster, findCluster, upCluster } from './lasting-cluster.ts';
import { runInNamespaces } from './namespaces.ts';
import { startCluster } from './start-cluster.ts';

const USAGE = 'usage: cluster up | down | build | [run --] <command> [words…]';
/** For a command that was told to end. */
const GRACE_MS = 15_000;
const SELF = [process.execPath, '--disable-warning=ExperimentalWarning', import.meta.filename] as const;

async function main([verb, ...words]: readonly string[]): Promise<number> {
  switch (verb) {
    case 'up':
      return upCluster([...SELF, 'keep']);
    case 'down':
      return downCluster();
    case 'keep':
      mkdirSync(LASTING_STATE);
      return runInOwnCluster(LASTING_STATE, ['sleep', 'infinity']);
    case 'build':
      await kubernetesPrograms();
      return 0;
    case 'inside':
      return inside(words);
    case 'run':
      return run(words[0] === '--' ? words.slice(1) : words);
    default:
      return run(verb === undefined ? [] : [verb, ...words]);
  }
}

async function run(command: readonly string[]): Promise<number> {
  if (command.length === 0) throw new Error(USAGE);
  if (process.env['KUBECONFIG']) return runProgram(command);
  const lasting = findCluster();
  if (lasting) return runProgram([...lasting.enter, ...command], lasting.env);
  return runInOwnCluster(mkdtempSync(join(tmpdir(), 'svc-cluster-')), command);
}

async function runInOwnCluster(state: string, command: readonly string[]): Promise<number> {
  if (process.getuid?.() !== 0) throw new Error('only root can start a cluster; set KUBECONFIG to use one that runs');
  const [programs, images] = [await kubernetesPrograms(), await kubernetesImages()];
  return runInNamespaces(state, ({ cgroup }) => [...SELF, 'inside', state, cgroup, programs, images, ...command]);
}

async function inside(words: readonly string[]): Promise<number> {
  const [state = '', cgroup = '', programs = '', images = '', ...command] = words;
  const env = await startCluster({ state, cgroup, programs, images });
  announceCluster(state, env);
  return runProgram(command, env);
}

async function runProgram(
  [program = '', ...words]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const child = spawn(program, words, { stdio: 'inherit', env: { ...process.env, ...env } });
  process.on('SIGINT', () => {}); // in a terminal the command gets it too, and decides
  process.on('SIGTERM', () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

// The parts of the cluster are our children, and end with us.
process.exit(
  await main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof Error ? `cluster: ${error.message}` : error);
    return 1;
  }),
);
