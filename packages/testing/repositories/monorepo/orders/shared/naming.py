def task_name(what):
    return f"take_{what}"
