/** A real lite that root has started, and a DAG that goes after its secrets: while it is compiled, and in a task. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAccount } from '@svc/proto/task-user.ts';
import { EVENTUALLY, runToEnd, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';

/** Tells for each secret how the kernel answers: what is not "refused" has been read, or reached. */
const THIEF = `
import ctypes, glob, os
from pathlib import Path


def processes(data):
    """The control plane, its agent and its Postgres: everybody may see their command lines."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace").split("\\0")
            parent = (entry / "status").read_text().split("PPid:")[1].split()[0]
        except OSError:
            continue
        if "lite" in line and str(data) in line and "server" not in found:
            found["server"] = int(entry.name)
        if str(data / "postgres") in line and "postgres" in line[0]:
            found.setdefault("postgres", int(entry.name))  # not one that it has just forked
        if any("agent" in part for part in line) and "work" in line:
            found.setdefault("agents", {})[int(entry.name)] = int(parent)
    found["agent"] = next((pid for pid, parent in found.pop("agents", {}).items() if parent == found.get("server")), None)
    return found


def ptrace(pid):
    attach, detach = 16, 17
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(attach, pid, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    os.waitpid(pid, 0x40000000)
    libc.ptrace(detach, pid, None, None)


def steal(data):
    said = {}

    def attempt(what, action, of=data):
        try:
            action()
            said[what] = "ALLOWED"
        except PermissionError:
            said[what] = "refused"
        except FileNotFoundError as error:
            if of.exists():  # otherwise of another instance, which has ended meanwhile
                said[what] = repr(error)
        except Exception as error:
            said[what] = repr(error)

    for name in ("jwt-secret", "secret-key", "database-password", "admin-password"):
        attempt(name, lambda name=name: (data / "secrets" / name).read_text())
    for name in ("secrets", "postgres", "logs"):
        attempt(f"list {name}", lambda name=name: list((data / name).iterdir()))
    for name in ("postgres/PG_VERSION", "postgres.password", "svc.log", "postgres.log"):
        attempt(name, lambda name=name: (data / name).read_text())
    attempt("write", lambda: (data / "mine").write_text("mine"))
    for who, pid in processes(data).items():
        attempt(f"{who} environ", lambda pid=pid: open(f"/proc/{pid}/environ", "rb").read(1))
        attempt(f"{who} mem", lambda pid=pid: open(f"/proc/{pid}/mem", "rb"))
        attempt(f"{who} fd", lambda pid=pid: os.listdir(f"/proc/{pid}/fd"))
        attempt(f"{who} kill", lambda pid=pid: os.kill(pid, 0))
        attempt(f"{who} ptrace", lambda pid=pid: ptrace(pid))
    for folder in glob.glob("/tmp/svc-agent-*"):
        attempt("list sockets", lambda folder=folder: os.listdir(folder), Path(folder))
        attempt("replace sockets", lambda folder=folder: open(folder + "/mine", "w"), Path(folder))
    return said
`;

const DAG = `
import json, os, subprocess, sys, tempfile
from pathlib import Path
from airflow.sdk import dag, task
from thief import steal

DATA = Path(__file__).resolve().parents[2] / "data"
MARK = "compiled " + json.dumps({"said": steal(DATA), "uid": os.getuid(), "groups": os.getgroups()})


@dag(schedule=None, description=MARK)
def quarry():
    @task
    def steals():
        return steal(DATA)

    @task
    def works(said):
        import svc_probe
        from thief import steal as again  # beside the file, in a workspace that only root may enter

        home = Path.home() / f"from-{os.getpid()}"
        home.write_text("x")
        home.unlink()
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x")
        print("a line of the log")
        child = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True)
        return {
            "environment": sys.prefix,
            "uid": os.getuid(),
            "gid": os.getgid(),
            "groups": os.getgroups(),
            "child": child.stdout.strip(),
            "answer": svc_probe.ANSWER,
            "built by": svc_probe.BUILT_BY,
            "said": len(said),
            "may change its environment": os.access(sys.prefix, os.W_OK) or os.access(svc_probe.__file__, os.W_OK),
            "credentials": [name for name in os.environ if "TOKEN" in name or name.startswith("PG")],
        }

    works(steals())


quarry()
`;

/** Built from source, by a backend that comes along: pip runs it, and it tells as whom. */
const BACKEND = `
import os, zipfile

HOOK = '''
import os
from airflow.sdk import BaseHook

class ProbeHook(BaseHook):
    def __init__(self, probe_conn_id=""):
        super().__init__()

    def test_connection(self):
        return True, f"{os.getuid()} {os.access(__file__, os.W_OK)} {'SVC_AGENT_TASK_USER' in os.environ}"

def provider_info():
    return {"connection-types": [{"connection-type": "probe", "hook-class-name": "svc_probe.ProbeHook"}]}
'''

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = "svc_probe-1.0.dist-info"
    name = "svc_probe-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.writestr("svc_probe.py", f"ANSWER = 42\\nBUILT_BY = {os.getuid()}\\n" + HOOK)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: svc-probe\\nVersion: 1.0\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/entry_points.txt", "[apache_airflow_provider]\\nprovider_info=svc_probe:provider_info\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
`;

const PYPROJECT = `
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "svc-probe"
version = "1.0"
`;

let lite: LiteInstance;
let environment: string | undefined;
beforeAll(async () => {
  if (process.getuid?.() !== 0) return;
  lite = await startLite({
    examples: [],
    dags: { 'probe/backend.py': BACKEND, 'probe/pyproject.toml': PYPROJECT },
    isPrivate: true,
    env: { SVC_CONNECTIONS_TEST_ENABLED: 'true' },
  });
  lite.writeDag('quarry/thief.py', THIEF);
  lite.writeDag('quarry/svc.yaml', `dependencies: ["svc-probe @ file://${lite.workspace}/probe"]\n`);
  lite.writeDag('quarry/dag.py', DAG);
}, 400_000);
afterAll(async () => {
  await lite?.stop();
  if (environment !== undefined) rmSync(environment, { recursive: true, force: true }); // nobody asks for it again
});

/** By the log: each installation has an account of its own. */
function accountOf({ data }: LiteInstance) {
  const log = readFileSync(join(data, 'svc.log'), 'utf8');
  return findAccount(/author code runs as the user \\"(svc-task(?:-\d+)?)\\"/.exec(log)?.[1] ?? '');
}

type Said = Record<string, string>;
type Worked = Record<string, unknown> & { environment: string };

const refusals = (said: Said): Said => Object.fromEntries(Object.keys(said).map((what) => [what, 'refused']));
/** All of them were tried, and all processes found. */
const TRIED = [
  'admin-password',
  'postgres/PG_VERSION',
  'server environ',
  'agent environ',
  'postgres kill',
  'server ptrace',
];

describe.runIf(process.getuid?.() === 0)('author code of a lite that root has started', { timeout: 400_000 }, () => {
  it('reads no secret while it is compiled', async () => {
    const description = (): Promise<string> =>
      lite.api<{ description: string }>('GET', '/dags/quarry').then(
        ({ description: found }) => found,
        () => '',
      );
    await expect.poll(description, EVENTUALLY).toMatch(/^compiled /);
    const { said, uid, groups } = JSON.parse((await description()).slice('compiled '.length)) as {
      said: Said;
      uid: number;
      groups: number[];
    };
    expect(Object.keys(said)).toEqual(expect.arrayContaining(TRIED));
    expect(said).toEqual(refusals(said));
    expect([uid === 0, groups]).toEqual([false, []]);
  });

  it('reads no secret in a task, and does its work: packages, its own files, XComs and logs', async () => {
    const runId = await runToEnd(lite.api, 'quarry');
    const run = `/dags/quarry/dagRuns/${encodeURIComponent(runId)}/taskInstances`;
    const xcom = async <T>(task: string): Promise<T> =>
      (await lite.api<{ value: T }>('GET', `${run}/${task}/xcomEntries/return_value?stringify=false`)).value;
    const said = await xcom<Said>('steals');
    expect(Object.keys(said)).toEqual(expect.arrayContaining([...TRIED, 'list sockets']));
    expect(said).toEqual(refusals(said));
    const account = accountOf(lite);
    expect(account).toBeDefined();
    const { environment: made, ...worked } = await xcom<Worked>('works');
    environment = made;
    expect(worked).toEqual({
      uid: account?.uid,
      gid: account?.gid,
      groups: [],
      child: account?.name,
      answer: 42,
      'built by': account?.uid,
      said: Object.keys(said).length,
      'may change its environment': false,
      credentials: [],
    });
    const headers = { authorization: `Bearer ${await lite.login()}` };
    const log = await fetch(`${lite.url}/api/v2${run}/works/logs/1`, { headers });
    expect(await log.text()).toContain('a line of the log');
  });

  it('is no more in the test of a connection', async () => {
    const answer = await lite.api('POST', '/connections/test', { connection_id: 'probe', conn_type: 'probe' });
    expect(answer).toEqual({ status: true, message: `${accountOf(lite)?.uid} False False` });
  });

  it('says once as whom tasks run, and what was opened for them; nobody else may enter it', () => {
    const log = readFileSync(join(lite.data, 'svc.log'), 'utf8');
    const lines = log.split('\n').filter((line) => line.includes('author code runs as the user'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(lite.workspace);
    expect(statSync(lite.workspace).mode & 0o007).toBe(0);
  });

  it('a file that the user of tasks may not read is told as such', async () => {
    writeFileSync(join(lite.workspace, 'closed.py'), 'from airflow.sdk import dag\n', { mode: 0o600 });
    const errors = async (): Promise<string> => JSON.stringify(await lite.api('GET', '/importErrors'));
    await expect.poll(errors, EVENTUALLY).toContain('that the user tasks run as may read it');
  });
});
