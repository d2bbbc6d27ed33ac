/** The DAGs of the long load. */
export const BACKFILLED = 'soak_backfilled';

const scheduled = (number: number): string => `
from airflow.sdk import dag, task

@dag(schedule="* * * * *", catchup=False)
def soak_scheduled_${number}():
    @task
    def extract():
        return {"rows": list(range(100))}

    @task
    def load(rows):
        print(len(rows["rows"]))

    load(extract())

soak_scheduled_${number}()
`;

const MAPPED = `
from airflow.sdk import dag, task

@dag(schedule=None)
def soak_mapped():
    @task
    def numbers():
        return list(range(20))

    @task
    def double(n):
        return n * 2

    @task
    def add(values):
        return sum(values)

    add(double.expand(n=numbers()))

soak_mapped()
`;

const FAILING = `
from datetime import timedelta
from airflow.sdk import dag, task

@dag(schedule=None)
def soak_failing():
    @task(retries=1, retry_delay=timedelta(seconds=1))
    def fail():
        raise ValueError("as it should")

    @task(trigger_rule="all_done")
    def after():
        pass

    fail() >> after()

soak_failing()
`;

const BACKFILL = `
from datetime import datetime
from airflow.sdk import dag, task

@dag(schedule="0 0 * * *", start_date=datetime(1900, 1, 1), catchup=False)
def ${BACKFILLED}():
    @task
    def work():
        return 1

    work()

${BACKFILLED}()
`;

const TALKING = `
import time
from airflow.sdk import dag, task

@dag(schedule=None)
def soak_talking():
    @task
    def talk():
        for number in range(100):
            print(f"line {number}", flush=True)
            time.sleep(0.02)

    talk()

soak_talking()
`;

export const DAGS: Record<string, string> = {
  soak_scheduled_1: scheduled(1),
  soak_scheduled_2: scheduled(2),
  soak_scheduled_3: scheduled(3),
  soak_mapped: MAPPED,
  soak_failing: FAILING,
  [BACKFILLED]: BACKFILL,
  soak_talking: TALKING,
};
