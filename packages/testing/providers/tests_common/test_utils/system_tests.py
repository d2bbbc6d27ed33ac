"""What the examples of providers ask of the folder they are kept in, and which no package brings."""


def get_test_run(dag, **_):
    return lambda: dag


def get_test_env_id() -> str:
    return "example"
