/**
 * Two installations that root has started on one machine, and a task that tries to break into the processes and files of other
 * tasks: those of another DAG of its own installation, and those of the other installation. With `auth.secret_scoping=enforce`.
 */
import { chmodSync, existsSync, mkdirSync, openSync, closeSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { EVENTUALLY, runEnds, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';

/** Holds a secret in its memory, in the environment of a program and in a file of its home, and waits. */
const VICTIM = `
import json, os, subprocess, time
from pathlib import Path
from airflow.sdk import Variable, dag, task

MEETING = Path(__file__).resolve().parent / "meeting"


@dag(schedule=None)
def victim():
    @task
    def guards():
        crown = Variable.get("crown")
        program = subprocess.Popen(["sleep", "600"], env={"CROWN": crown})
        treasure = Path.home() / "treasure"
        treasure.write_text(crown)
        facts = {
            "pids": {"server": os.getppid(), "task": os.getpid(), "program": program.pid},
            "files": [str(treasure), str(Path("/tmp") / "svc-agent-none")],
            "base": str(Path.home().parents[2]),
            "uid": os.getuid(),
        }
        (MEETING / "facts.new").write_text(json.dumps(facts))
        (MEETING / "facts.new").rename(MEETING / "facts")
        while not (MEETING / "go").exists():
            time.sleep(0.05)
        program.kill()
        program.wait()

    guards()


victim()
`;

/** An attack that is not "refused" reached its target. The control is a process of the task itself: each attack must succeed there. */
const RAIDER = `
import ctypes, os, subprocess, time
from airflow.sdk import Variable, dag, task


def ptrace(pid):
    attach, detach = 16, 17
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(attach, pid, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    os.waitpid(pid, 0x40000000)
    libc.ptrace(detach, pid, None, None)


def read_memory(pid):
    with open(f"/proc/{pid}/maps") as maps:
        start = int(next(line for line in maps if " r" in line).split("-")[0], 16)
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(start)
        memory.read(1)


ATTACKS = {
    "environ": lambda pid: open(f"/proc/{pid}/environ", "rb").read(1),
    "mem": read_memory,
    "fd": lambda pid: os.readlink(f"/proc/{pid}/fd/0"),
    "cwd": lambda pid: os.listdir(f"/proc/{pid}/cwd"),
    "root": lambda pid: os.listdir(f"/proc/{pid}/root"),
    "ptrace": ptrace,
    "kill": lambda pid: os.kill(pid, 0),
}


def attempt(action, *arguments):
    try:
        action(*arguments)
        return "ALLOWED"
    except PermissionError:
        return "refused"
    except Exception as error:
        return repr(error)


def attack(pid):
    return {name: attempt(action, pid) for name, action in ATTACKS.items()}


@dag(schedule=None, params={"pids": {}, "files": [], "folders": []})
def raider():
    @task
    def raids(params=None):
        own = subprocess.Popen(["sleep", "600"])
        try:
            # For a moment after its start, the kernel shows nothing of a program to anybody.
            deadline = time.monotonic() + 30
            while "refused" in (control := attack(own.pid)).values() and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            own.kill()
            own.wait()
        try:
            undeclared = Variable.get("cro" + "wn")
        except Exception as error:
            undeclared = type(error).__name__
        return {
            "control": control,
            "processes": {name: attack(pid) for name, pid in params["pids"].items()},
            "files": {path: attempt(open, path) for path in params["files"]},
            "folders": {path: attempt(os.listdir, path) for path in params["folders"]},
            "undeclared": undeclared,
            "in environment": [name for name in os.environ if name.startswith("AIRFLOW_VAR_")],
            "uid": os.getuid(),
        }

    raids()


raider()
`;

const CANARY = 'canary-4f1d8b7a2c';

type Facts = { pids: Record<string, number>; files: string[]; base: string; uid: number };
type Attacked = Record<string, string>;
type Raid = {
  control: Attacked;
  processes: Record<string, Attacked>;
  files: Attacked;
  folders: Attacked;
  undeclared: string;
  'in environment': string[];
  uid: number;
};
type Besieged = { lite: LiteInstance; facts: Facts };

const lites: LiteInstance[] = [];

const ATTACKS = ['environ', 'mem', 'fd', 'cwd', 'root', 'ptrace', 'kill'];
const all = (answer: string): Attacked => Object.fromEntries(ATTACKS.map((name) => [name, answer]));

async function trigger({ api }: LiteInstance, dagId: string, conf: object = {}): Promise<string> {
  await api('PATCH', `/dags/${dagId}`, { is_paused: false });
  return (await api<{ dag_run_id: string }>('POST', `/dags/${dagId}/dagRuns`, { conf })).dag_run_id;
}

async function besieged(dags: Record<string, string>): Promise<Besieged> {
  const lite = await startLite({
    examples: [],
    dags: { 'victim.py': VICTIM, ...dags },
    env: { SVC_AUTH_SECRET_SCOPING: 'enforce' },
  });
  lites.push(lite);
  const meeting = join(lite.workspace, 'meeting');
  mkdirSync(meeting);
  chmodSync(meeting, 0o777);
  await lite.api('POST', '/variables', { key: 'crown', value: CANARY });
  await trigger(lite, 'victim');
  await eventually(() => existsSync(join(meeting, 'facts')), { withinMs: EVENTUALLY.timeout });
  const facts = JSON.parse(readFileSync(join(meeting, 'facts'), 'utf8')) as Facts;
  return { lite, facts };
}

/** As root, who may: what is written in the memory of a process. */
function remembers(pid: number, text: string): boolean {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8')
      .split('\n')
      .some((line) => {
        const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
        if (from === undefined || to === undefined) return false;
        const start = parseInt(from, 16);
        const bytes = Buffer.alloc(Math.min(parseInt(to, 16) - start, 1 << 28));
        try {
          return bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, start)).includes(text);
        } catch {
          return false; // not of ordinary memory
        }
      });
  } finally {
    closeSync(memory);
  }
}

let own: Besieged;
let other: Besieged;
let raid: Raid;

describe.runIf(process.getuid?.() === 0)('a task that breaks into others', { timeout: 400_000 }, () => {
  beforeAll(async () => {
    [own, other] = await Promise.all([besieged({ 'raider.py': RAIDER }), besieged({})]);
    const named = (name: string, { pids }: Facts) =>
      Object.entries(pids).map(([what, pid]) => [`${name} ${what}`, pid] as const);
    const runId = await trigger(own.lite, 'raider', {
      pids: Object.fromEntries([...named('own', own.facts), ...named('other', other.facts)]),
      files: [other.facts.files[0], join(other.lite.data, 'secrets', 'secret-key')],
      folders: [own.facts.base, other.facts.base, join(other.lite.data, 'staging'), join(other.lite.data, 'logs')],
    });
    await runEnds(own.lite.api, 'raider', runId);
    const path = `/dags/raider/dagRuns/${encodeURIComponent(runId)}/taskInstances/raids/xcomEntries/return_value`;
    raid = (await own.lite.api<{ value: Raid }>('GET', `${path}?stringify=false`)).value;
  }, 400_000);
  afterAll(async () => {
    for (const lite of lites) writeFileSync(join(lite.workspace, 'meeting', 'go'), '');
    await Promise.all(lites.map((lite) => lite.stop()));
  });

  it('reaches a process of its own by each of the attacks, so that they are real', () => {
    expect(raid.control).toEqual(all('ALLOWED'));
  });

  it('reaches no process of another DAG: neither its fork server, nor its task, nor a program that the task has started', () => {
    for (const what of ['server', 'task', 'program']) {
      expect([what, raid.processes[`own ${what}`]]).toEqual([what, all('refused')]);
    }
  });

  it('reaches no process of another installation, which has another user', () => {
    expect(own.facts.uid).toBe(raid.uid);
    expect(other.facts.uid).not.toBe(raid.uid);
    for (const what of ['server', 'task', 'program']) {
      expect([what, raid.processes[`other ${what}`]]).toEqual([what, all('refused')]);
    }
  });

  it('reads no file of another installation, and finds no folder of another DAG by looking', () => {
    const reached = [...Object.entries(raid.files), ...Object.entries(raid.folders)].filter(
      ([path, answer]) => answer !== 'refused' && !(path.endsWith('staging') && answer.startsWith('FileNotFound')),
    );
    expect(reached).toEqual([]);
    expect(Object.keys(raid.files)).toHaveLength(2);
  });

  it('gets no secret that its DAG does not declare', () => {
    expect([raid.undeclared, raid['in environment']]).toEqual([expect.stringMatching(/Error|Failed|Denied/), []]);
  });

  it('would find none in a fork server, which keeps no secret while its task has one', () => {
    const { server = 0, task = 0 } = own.facts.pids;
    expect({ task: remembers(task, CANARY), server: remembers(server, CANARY) }).toEqual({ task: true, server: false });
  });
});
