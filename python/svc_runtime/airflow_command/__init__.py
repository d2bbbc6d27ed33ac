"""The program `airflow`: the commands that people script. Uses the standard library alone, so that it starts in 30 ms."""
