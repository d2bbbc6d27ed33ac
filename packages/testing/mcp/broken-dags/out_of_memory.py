"""More memory than the process may have: the whole table is read at once."""

from airflow.sdk import DAG, task

with DAG("out_of_memory", schedule=None):

    @task
    def aggregate() -> int:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        with open("/proc/self/statm") as statm:
            used = int(statm.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 64 * 1024 * 1024, hard))
        rows = []
        while True:
            print(f"{len(rows)} chunks of 16 MiB in memory")
            rows.append(bytearray(16 * 1024 * 1024))

    @task
    def report(rows: int) -> None:
        print(rows)

    report(aggregate())
