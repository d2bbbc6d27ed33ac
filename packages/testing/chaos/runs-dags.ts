/**
 * The DAGs of the chaos of runs. Their bodies write down what they do in a file that svc knows nothing of, and hold locks
 * while they do it: the kernel gives a lock free when its process dies, so that whoever finds one taken has seen two
 * processes where one is allowed, however they came to be.
 */

/** Slots of the pool `chaos`. */
export const POOL_SLOTS = 3;
export const CHAOS_POOL = 'chaos';

/** As the file says below; checked once more from what the bodies wrote. */
export const LIMITS = {
  /** max_active_tasks, by DAG. */
  perRun: { chaos_fan: 4 } as Readonly<Record<string, number>>,
  /** max_active_tis_per_dagrun and _per_dag, by task. */
  perTaskOfRun: { 'chaos_mapped.each': 3 } as Readonly<Record<string, number>>,
  perTask: { 'chaos_retry.rare': 2 } as Readonly<Record<string, number>>,
} as const;

/** Tasks whose body runs several times within one try. */
export const SENSORS: ReadonlySet<string> = new Set(['chaos_branch.wait']);
/** Tasks that leave no return value: a sensor's is optional, a branch that skips something raises. */
export const VALUELESS: ReadonlySet<string> = new Set(['chaos_branch.wait', 'chaos_branch.choose']);
/** Tasks that end otherwise than by success, when nothing disturbs them. */
export const EXPECTED_STATES: Readonly<Record<string, readonly string[]>> = {
  'chaos_retry.hopeless': ['failed'],
  'chaos_branch.left': ['success', 'skipped'],
  'chaos_branch.right': ['success', 'skipped'],
};

/** Task instances of one run of each DAG. */
export const INSTANCES: Readonly<Record<string, number>> = {
  chaos_chain: 8,
  chaos_fan: 12,
  chaos_mapped: 11,
  chaos_retry: 4,
  chaos_branch: 5,
  chaos_defer: 3,
};

export const chaosDags = (folder: string): string => `
import asyncio, fcntl, json, os, time
from contextlib import contextmanager
from airflow.sdk import DAG, BaseOperator, get_current_context, task
from airflow.triggers.base import BaseTrigger, TriggerEvent

HERE = ${JSON.stringify(folder)}
# Kills are no fault of the task: there are enough tries for all of them.
KEEN = {"retries": 60, "retry_delay": 0.05}


def write(**fields):
    fd = os.open(HERE + "/effects", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(fd, (json.dumps(fields) + "\\n").encode())
    os.close(fd)


def take(name, places):
    for place in range(places):
        fd = os.open(f"{HERE}/locks/{name}.{place}", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fd
        except BlockingIOError:
            os.close(fd)
    return None


@contextmanager
def body(*limits, seconds=0.0):
    """limits: (name, places there are, places taken)"""
    context = get_current_context()
    ti = context["ti"]
    who = {
        "attempt": os.environ["SVC_ATTEMPT"], "dag": ti.dag_id, "run": ti.run_id, "task": ti.task_id,
        "map": ti.map_index, "try": ti.try_number, "pid": os.getpid(),
    }
    write(what="start", **who)
    held = []
    for name, places, wanted in ((f"ti-{ti.dag_id}-{ti.run_id}-{ti.task_id}-{ti.map_index}", 1, 1), *limits):
        for _ in range(wanted):
            fd = take(name, places)
            if fd is None:
                write(what="violation", text=f"{name}: more than {places} at once", **who)
            else:
                held.append(fd)
    print(f"begin {who['attempt']}")
    time.sleep(seconds)
    try:
        ti.xcom_push(key="mark", value=who["attempt"])
        yield who
        print(f"done {who['attempt']}")
        write(what="end", **who)
    finally:
        for fd in held:
            os.close(fd)


def expect(who, isTrue, text):
    if not isTrue:
        write(what="violation", text=text, **who)


def value_of(who, number):
    return {"run": who["run"], "number": number, "attempt": who["attempt"]}


with DAG("chaos_chain", schedule=None, max_active_runs=1000, default_args=KEEN):
    previous = None
    for number in range(8):
        @task(task_id=f"t{number}")
        def step(number, before=None):
            with body(seconds=0.03 * number) as who:
                if number > 0:
                    expect(who, before and before["run"] == who["run"] and before["number"] == number - 1, f"got {before}")
                return value_of(who, number)
        previous = step(number, previous)

class Soon(BaseTrigger):
    def __init__(self, seconds):
        super().__init__(seconds=seconds)
        self.seconds = seconds

    async def run(self):
        await asyncio.sleep(self.seconds)
        yield TriggerEvent({"waited": self.seconds})


class Waits(BaseOperator):
    def __init__(self, seconds, **kwargs):
        super().__init__(**kwargs)
        self.seconds = seconds

    def execute(self, context):
        self.defer(trigger=Soon(self.seconds), method_name="go_on", kwargs={"number": 7})

    # The body of the try: whatever becomes of triggerers, it runs once.
    def go_on(self, context, number, event):
        with body(seconds=0.05) as who:
            expect(who, event == {"waited": self.seconds} and number == 7, f"got {event} {number}")
            return value_of(who, number)


with DAG("chaos_defer", schedule=None, max_active_runs=1000, default_args=KEEN):
    for number in range(3):
        Waits(task_id=f"waits{number}", seconds=0.3 + number)

with DAG("chaos_fan", schedule=None, max_active_runs=1000, max_active_tasks=4, default_args=KEEN):
    @task
    def source():
        with body() as who:
            return value_of(who, 0)

    @task
    def join(values):
        with body() as who:
            expect(who, [value["number"] for value in values] == list(range(10)), f"joined {values}")
            return value_of(who, len(values))

    def part(number):
        @task(task_id=f"part{number}")
        def one(before):
            run = get_current_context()["run_id"]
            with body((f"run-{run}", 4, 1), seconds=0.2) as who:
                expect(who, before["run"] == who["run"], f"got {before}")
                return value_of(who, number)
        return one

    begun = source()
    join([part(number)(begun) for number in range(10)])

with DAG("chaos_mapped", schedule=None, max_active_runs=1000, default_args=KEEN):
    @task(pool="${CHAOS_POOL}", pool_slots=2)
    def numbers():
        with body(("pool", ${POOL_SLOTS}, 2), seconds=0.02) as who:
            return list(range(9))

    @task(pool="${CHAOS_POOL}", max_active_tis_per_dagrun=3)
    def each(number):
        run = get_current_context()["run_id"]
        with body(("pool", ${POOL_SLOTS}, 1), (f"each-{run}", 3, 1), seconds=0.1) as who:
            return value_of(who, number)

    @task
    def total(values):
        with body() as who:
            values = list(values)
            expect(who, [value["number"] for value in values] == list(range(9)), f"mapped {values}")
            return value_of(who, sum(value["number"] for value in values))

    total(each.expand(number=numbers()))

with DAG("chaos_retry", schedule=None, max_active_runs=1000, default_args=KEEN):
    @task
    def third():
        with body() as who:
            if who["try"] < 3:
                write(what="end", **who)
                raise ValueError("not yet")
            return value_of(who, 3)

    @task(max_active_tis_per_dag=2)
    def rare(before):
        with body(("rare", 2, 1), seconds=0.1) as who:
            return value_of(who, 4)

    @task(retries=1, retry_delay=0.05)
    def hopeless():
        with body() as who:
            write(what="end", **who)
            raise ValueError("never")

    @task(trigger_rule="all_done")
    def anyway():
        with body() as who:
            return value_of(who, 5)

    [rare(third()), hopeless()] >> anyway()

with DAG("chaos_branch", schedule=None, max_active_runs=1000, default_args=KEEN):
    @task.branch
    def choose():
        with body() as who:
            return "left" if int(who["run"].rsplit("-", 1)[-1]) % 2 else "right"

    @task
    def left():
        with body() as who:
            return value_of(who, 1)

    @task
    def right():
        with body() as who:
            return value_of(who, 2)

    @task.sensor(mode="reschedule", poke_interval=0.3, timeout=3600)
    def wait():
        with body() as who:
            path = f"{HERE}/pokes-{who['run']}"
            fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            os.write(fd, b"x")
            os.close(fd)
            return os.path.getsize(path) >= 3

    @task(trigger_rule="none_failed_min_one_success")
    def together():
        with body() as who:
            return value_of(who, 6)

    end = together()
    choose() >> [left(), right()] >> end
    wait() >> end
`;
