from airflow.models.baseoperator import BaseOperator


class TableOperator(BaseOperator):
    def __init__(self, rows, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.rows = rows

    def execute(self, context):
        from tabulate import tabulate

        return tabulate(self.rows)
