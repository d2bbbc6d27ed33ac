"""dbt projects as tasks: the graph while a file is compiled, dbt itself while a task runs."""
