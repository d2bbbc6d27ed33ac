/**
 * The process that syncs one bundle: `svc-agent sync-bundle`. It has no settings of the control plane in its
 * environment, gets its job on its standard input, and ends with this process. Nothing that it sends counts before it
 * has sent everything.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { HOME } from '@svc/proto/bundle-job.ts';
import type {
  BundleAnswer,
  BundleCommit,
  BundleJob,
  BundleMessage,
  BundleTaken,
  CompiledBundleDag,
} from '@svc/proto/bundle-job.ts';
import { parseExact } from '@svc/spec/exact-json.ts';
import { parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import type { AnswerValue } from '@svc/spec/values-read.ts';
import { resolveAgent } from '../executors/agent-process.ts';
import type { BrokenFile } from './deploy-commit.ts';
import { ArchiveError } from './store-archive.ts';
import type { ArchiveStore } from './store-archive.ts';

export type SyncResult =
  | { kind: 'unchanged'; version: string }
  | { kind: 'refused'; version: string; broken: readonly BrokenFile[] }
  | { kind: 'failed'; message: string }
  | {
      kind: 'compiled';
      commit: BundleCommit;
      /** The hash of its tree. */
      tree: string;
      dags: readonly CompiledBundleDag[];
      broken: readonly BrokenFile[];
    };

type Environment = Readonly<Record<string, string | undefined>>;

/** What the process needs of this machine. Everything else of the control plane's environment is left out. */
const INHERITED =
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|XDG_CACHE_HOME|SVC_PYTHON|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|GIT_SSL_CAINFO|NODE_EXTRA_CA_CERTS|NODE_COMPILE_CACHE|(PIP|UV)_\w+|(https?|all|no)_proxy|(HTTPS?|ALL|NO)_PROXY)$/;

export const bundleEnvironment = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => INHERITED.test(name)));

/** Everything that one sync may send besides files: the specs of thousands of DAGs. */
const MOST_OUTPUT_BYTES = 512 * 1024 * 1024;
const KEPT_ERRORS = 2_000;

export type BundleProcess = { readonly result: Promise<SyncResult>; stop(): void };

export function startBundleProcess(input: {
  job: BundleJob;
  agentPath: string;
  env: Environment;
  timeoutMs: number;
  answerValue: AnswerValue;
  archive: ArchiveStore;
  onProgress: (text: string) => void;
}): BundleProcess {
  const { job, agentPath, env, timeoutMs } = input;
  const heap = Math.max(256, Math.floor(job.limits.memoryBytes / 1024 / 1024));
  const child = spawn(resolveAgent(agentPath, env['PATH'] ?? ''), ['sync-bundle'], {
    env: { ...bundleEnvironment(env), NODE_OPTIONS: `--max-old-space-size=${heap}` },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, so that all of it can be ended.
    detached: true,
  });
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // it has ended already
    }
  };
  let problem: string | undefined;
  const abandon = (why: string): void => {
    problem ??= why;
    end();
  };
  const timer = setTimeout(
    () => abandon(`it took longer than ${timeoutMs / 1_000} s (bundles.sync_timeout)`),
    timeoutMs,
  );
  const collected = collect({ ...input, abandon }, (line) => void child.stdin.write(line));
  // Files are sent in base64, and stored as they come.
  const mostBytes = MOST_OUTPUT_BYTES + 2 * job.limits.totalBytes;
  let bytes = 0;
  child.stdout.on('data', (data: Buffer) => {
    bytes += data.length;
    if (bytes > mostBytes) abandon('it has sent more than a sync may have');
  });
  const reading = readMessages(child.stdout, collected.take).catch(() => abandon('it has sent what is no message'));
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-KEPT_ERRORS)));
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(job)}\n`);
  const result = new Promise<SyncResult>((resolve) => {
    const failed = (message: string): void => {
      clearTimeout(timer);
      resolve({ kind: 'failed', message });
    };
    child.once('error', (error) => failed(`the process that syncs could not be started: ${error.message}`));
    child.once('close', async (code, signal) => {
      clearTimeout(timer);
      end();
      await reading;
      rmSync(join(job.cache, HOME), { recursive: true, force: true });
      const done = problem === undefined ? collected.result() : undefined;
      if (done) return resolve(done);
      const said = errors.trim().split('\n').at(-1);
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
      failed(`the process that syncs has ended: ${problem ?? `${how}${said ? `: ${said}` : ''}`}`);
    });
  });
  return { result, stop: () => abandon('the control plane is stopping') };
}

/** One spec may have megabytes, and other work must not wait until it is parsed. */
async function readMessages(input: Readable, take: (message: BundleMessage) => void): Promise<void> {
  for await (const line of createInterface({ input })) {
    take((await parseJsonInTurns(line, { parse: parseExact })) as BundleMessage);
  }
}

function collect(
  {
    answerValue,
    archive,
    onProgress,
    abandon,
  }: Pick<Parameters<typeof startBundleProcess>[0], 'answerValue' | 'archive' | 'onProgress'> & {
    abandon: (why: string) => void;
  },
  write: (line: string) => void,
): { take(message: BundleMessage): void; result(): SyncResult | undefined } {
  const dags: CompiledBundleDag[] = [];
  const broken: BrokenFile[] = [];
  let commit: BundleCommit | undefined;
  let tree: string | undefined;
  let ended: SyncResult | undefined;
  let isWhole = false;

  function store(id: number, work: () => Promise<readonly string[] | void>): void {
    work().then(
      (missing) => write(`${JSON.stringify({ id, missing: missing ?? [] } satisfies BundleTaken)}\n`),
      (error: unknown) =>
        abandon(error instanceof ArchiveError ? error.message : 'the files of the commit could not be stored'),
    );
  }

  return {
    take(message) {
      switch (message.kind) {
        case 'progress':
          return onProgress(message.text);
        case 'ask': {
          const { id, value } = message;
          const refuse = (): BundleAnswer['answer'] => ({
            refusal: `the ${value.kind} ${value.name} cannot be read now`,
            instead: 'Sync the bundle again',
          });
          void answerValue(value)
            .catch(refuse)
            .then((answer) => write(`${JSON.stringify({ id, answer } satisfies BundleAnswer)}\n`));
          return;
        }
        case 'tree':
          return store(message.id, () => archive.announce(message.entries));
        case 'part': {
          const { id, hash, part, data } = message;
          return store(id, () => archive.put({ hash, part, data: Buffer.from(data, 'base64') }));
        }
        case 'tree_sent':
          return store(message.id, async () => void (tree = await archive.finish()));
        case 'commit':
          commit = message;
          return;
        case 'dag':
          return void dags.push(message);
        case 'broken':
          return void broken.push(message);
        case 'refused': {
          const { version, file, message: text } = message;
          const one = { file, source: file, line: null, message: text, text: file === '' ? text : `${file}: ${text}` };
          ended = { kind: 'refused', version, broken: [one] };
          return;
        }
        case 'unchanged':
        case 'failed':
          ended = message;
          return;
        case 'end':
          isWhole = true;
      }
    },
    result() {
      if (!isWhole) return undefined;
      if (ended) return ended;
      return commit && tree !== undefined ? { kind: 'compiled', commit, tree, dags, broken } : undefined;
    },
  };
}
