"""What the DAGs of this team share."""
from airflow.models import Variable
from airflow.datasets import Dataset

SALES = Dataset("file://warehouse/sales")  # written by sales_daily, read by reports


def tell_team(context):
    channel = Variable.get("team_channel", default_var="#data")
    print(f"{channel}: {context['task_instance'].task_id} failed on {context['execution_date']}")
