"""Large libraries at the top of a file: loaded once, and used by processes that are forked behind it."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa

from airflow.sdk import DAG, task

LOADED_BY = os.getpid()

with DAG("libraries", schedule=None):

    @task
    def use():
        ones = np.ones((400, 400))
        frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]})
        return {
            "loaded_by": LOADED_BY,
            "drawn": float(np.random.rand()),
            "product": float((ones @ ones).sum()),  # in threads of the child's own
            "sums": frame.groupby("b")["a"].sum().to_dict(),
            "rows": pa.table({"a": list(range(1000))}).num_rows,
        }

    use()
