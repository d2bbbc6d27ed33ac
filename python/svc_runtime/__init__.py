"""The Python half of svc: records DAG files at compile time and runs task bodies later.

Nothing here imports pendulum or jinja2 at module level: compiling one small file must stay
well under 250 ms, and those two packages alone cost more than half of that.
"""
