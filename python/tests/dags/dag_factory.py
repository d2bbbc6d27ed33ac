"""DAGs from a table, with a helper module beside the file."""
from factory_helper import CONFIG, make_dag

for name, settings in CONFIG.items():
    globals()[f"factory_{name}"] = make_dag(name, **settings)
