/**
 * Attempts that leave traces of every kind in a real worker pod, and attempts that look for them there. What a fork server and an
 * agent do about each kind is tested with them (python/tests/test_run_isolation.py, executors/agent-isolation.test.ts).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import type { ClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import type { TestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { secondTenant } from '@svc/testing/server/api-caller.ts';
import type { Api } from '@svc/testing/server/api-caller.ts';

const dagOf = (version: string): string => `
import ctypes, os, signal, subprocess, sys, tempfile, threading, time
from airflow.sdk import DAG, task

VERSION = "${version}"
TOKEN = "/var/run/secrets/svc.dev/token"

def host():
    return os.uname().nodename

def readable_of_others():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in ("environ", "mem", "maps"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    if name != "mem" and not file.read(1):
                        continue  # it has ended since it was listed
                found.append(f"{pid} {name}")
            except OSError:
                pass
        try:
            os.readlink(f"/proc/{pid}/fd/0")
            found.append(f"{pid} fd")
        except OSError:
            pass
    return found

def named_trace():
    # HOME, temporary and working folder are below these, of this attempt and of any other that is left.
    return [
        os.path.join(folder, name)
        for base in (tempfile.gettempdir(), "/tmp", "/dev/shm", os.environ["HOME"], ".")
        for folder, folders, files in os.walk(base)
        for name in (*folders, *files)
        if name.startswith("trace")
    ]

with DAG("traces", schedule=None):
    @task
    def leaves():
        os.environ["TRACE"] = "left"
        os.putenv("TRACE_OF_C", "left")
        for folder in (os.environ["HOME"], tempfile.gettempdir(), ".", "/dev/shm"):
            open(os.path.join(folder, "trace"), "w").close()
        for folder in (os.environ["HOME"], tempfile.gettempdir(), "."):
            os.symlink("/etc", os.path.join(folder, "trace to a folder"))
            os.symlink(TOKEN, os.path.join(folder, "trace to a file"))
        os.makedirs(os.path.join(tempfile.gettempdir(), "trace closed", "inner"))
        os.chmod(os.path.join(tempfile.gettempdir(), "trace closed"), 0)
        os.umask(0)
        signal.signal(signal.SIGUSR1, lambda *_: None)
        os.set_inheritable(os.dup(os.open("/etc/hostname", os.O_RDONLY)), True)
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        globals()["VERSION"] = "changed"
        sys.path.insert(0, "/trace")
        sys.modules["trace_module"] = sys
        os.chdir("/")
        return host()

    @task
    def looks(before):
        in_c = subprocess.run(["sh", "-c", "echo $TRACE_OF_C"], capture_output=True, text=True).stdout.strip()
        descriptors = (f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd"))
        return {
            "before": before,
            "host": host(),
            "landlock": ctypes.CDLL(None).syscall(444, None, 0, 1) > 0,
            "of others": readable_of_others(),
            "found": {
                "env": [name for name in os.environ if name.startswith("TRACE")],
                "c env": in_c,
                "credentials": [name for name, value in os.environ.items() if "eyJ" in value],
                "files": named_trace(),
                "umask": os.umask(0o022),
                "handler": signal.getsignal(signal.SIGUSR1) != signal.SIG_DFL,
                "fds": [fd for fd in descriptors if os.path.exists(fd) and "hostname" in os.readlink(fd)],
                "threads": threading.active_count(),
                "version": VERSION,
                "path": "/trace" in sys.path,
                "module": "trace_module" in sys.modules,
            },
        }

    looks(leaves())

with DAG("untidy", schedule=None):
    @task
    def leaves_a_process():
        program = subprocess.Popen(["sleep", "600"], start_new_session=True)
        return [host(), program.pid]

    @task
    def comes_after(before):
        try:
            with open(f"/proc/{before[1]}/comm") as file:
                there = file.read().strip()
        except OSError:
            there = ""
        return {"before": before[0], "host": host(), "sleeps": there == "sleep"}

    comes_after(leaves_a_process())
`;

type Looked = {
  before: string;
  host: string;
  landlock: boolean;
  'of others': string[];
  found: Record<string, unknown>;
};

const nothingOf = (version: string): Looked['found'] => ({
  env: [],
  'c env': '',
  credentials: [],
  files: [],
  umask: 0o022,
  handler: false,
  fds: [],
  threads: 1,
  version,
  path: false,
  module: false,
});

let namespace: TestNamespace;
let server: ClusterControlPlane;
beforeAll(async () => {
  namespace = await createTestNamespace('isolation');
  server = await startClusterControlPlane(namespace.name, {
    'auth.agent_token_transport': 'exchange',
    'auth.secret_liveness_mode': 'enforce',
    'execution.warm_pools_enabled': 'true',
    'execution.max_pool_size': '1',
  });
});
afterAll(async () => {
  await server?.close();
  await namespace?.[Symbol.asyncDispose]();
});

async function run<T>(api: Api, dagId: string, taskId: string): Promise<T> {
  const { dag_run_id: runId } = await api<{ dag_run_id: string }>('POST', `/dags/${dagId}/dagRuns`, {});
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`;
  await expect
    .poll(async () => (await api<{ state: string }>('GET', path)).state, { timeout: 240_000 })
    .toMatch(/success|failed/);
  const value = `${path}/taskInstances/${taskId}/xcomEntries/return_value?deserialize=true`;
  return (await api<{ value: T }>('GET', value)).value;
}

function expectNothing({ before, host, landlock, found, 'of others': readable }: Looked, version: string): void {
  // It looked where the other had been. A kernel without Landlock keeps less apart (python/svc_runtime/run_server/apart.py).
  const expected = { found: nothingOf(version), host: before, readable: landlock ? [] : readable };
  expect({ found, host, readable }).toEqual(expected);
}

describe('an attempt in a worker pod', () => {
  it('finds nothing of the one before, of another version or of another tenant, and cannot look into processes', async () => {
    const { traces } = await server.addDag('traces', dagOf('one'));
    const first = await run<Looked>(server.api, 'traces', 'looks');
    expectNothing(first, 'one');
    const again = await run<Looked>(server.api, 'traces', 'looks');
    expectNothing(again, 'one');
    expect(again.host).toBe(first.host);

    const second = await secondTenant(server);
    await second('POST', '/dags/traces/dagVersions', { spec: traces, fileloc: '/dags/traces.py' });
    await second('PATCH', '/dags/traces', { is_paused: false });
    const neighbour = await run<Looked>(second, 'traces', 'looks');
    expectNothing(neighbour, 'one');
    expect(neighbour.host).not.toBe(first.host);

    await server.addDag('traces', dagOf('two'));
    const newer = await run<Looked>(server.api, 'traces', 'looks');
    expectNothing(newer, 'two');
    expect([first.host, neighbour.host]).not.toContain(newer.host);
  });

  it('that leaves a process running is the last of its worker: the next one runs in another pod, without it', async () => {
    const after = await run<{ before: string; host: string; sleeps: boolean }>(server.api, 'untidy', 'comes_after');
    expect(after).toMatchObject({ sleeps: false, before: expect.stringContaining('svc-worker-') as string });
    expect(after.host).toContain('svc-worker-');
    expect(after.host).not.toBe(after.before);
  });
});
