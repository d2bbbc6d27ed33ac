from airflow.sdk import BaseOperator

from include.prices import total


class BasketOperator(BaseOperator):
    template_fields = ("names",)

    def __init__(self, names, **kwargs):
        super().__init__(**kwargs)
        self.names = names

    def execute(self, context):
        return total(self.names)
