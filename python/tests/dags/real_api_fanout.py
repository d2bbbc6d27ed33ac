"""Pages through an API with mapped groups and merges results."""
from datetime import datetime, timedelta

from airflow.sdk import Variable, dag, get_current_context, task, task_group


@dag(schedule=timedelta(hours=4), start_date=datetime(2024, 1, 1), catchup=False, default_args={"retries": 2})
def real_api_fanout(base_url: str = "https://api.example.com"):
    @task
    def pages(url):
        return [{"url": url, "page": p} for p in range(int(Variable.get("page_count", "3")))]

    @task(pool="api", retry_delay=timedelta(seconds=10))
    def fetch(url, page):
        return {"page": page}

    @task
    def clean(raw):
        context = get_current_context()
        return {**raw, "run": context["run_id"]}

    @task_group
    def one_page(url, page):
        return clean(fetch(url, page))

    @task(trigger_rule="all_done")
    def merge(rows):
        return len(list(rows))

    results = one_page.expand_kwargs(pages(base_url))
    results >> merge([])


real_api_fanout()
