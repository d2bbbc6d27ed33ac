"""Operators and sensors written by the author, with their own template fields and defaults."""
from airflow.sdk import DAG, BaseOperator, BaseSensorOperator
from airflow.providers.standard.operators.bash import BashOperator


class Greet(BaseOperator):
    template_fields = ("name", "options")
    ui_color = "#112233"

    def __init__(self, name, options=None, greeting="hello", **kwargs):
        super().__init__(**kwargs)
        self.name = name
        self.options = options or {}
        self.greeting = greeting

    def execute(self, context):
        return f"{self.greeting} {self.name}"


class Fixed(BashOperator):
    def __init__(self, **kwargs):
        super().__init__(bash_command="echo fixed", **kwargs)


class Always(BaseSensorOperator):
    def poke(self, context):
        return True


with DAG("custom_operator", schedule=None, default_args={"greeting": "hi", "retries": 2}):
    g = Greet(task_id="greet", name="{{ ds }}")
    Greet(task_id="greet_output", name=g.output, options={"k": g.output["x"]})
    Greet.partial(task_id="greet_many", greeting="yo").expand(name=["a", "b"])
    Fixed(task_id="fixed", retries=0) >> Always(task_id="always", poke_interval=5)
