from airflow.sdk import DAG, task

with DAG("run_if_skip_if", schedule=None):

    @task.run_if(lambda context: context["params"].get("go", True), skip_message="not today")
    @task
    def maybe():
        pass

    @task.skip_if(lambda context: (False, "reason"))
    @task.bash
    def maybe_bash():
        return "true"

    maybe() >> maybe_bash()
