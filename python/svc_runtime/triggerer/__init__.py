"""The triggerer: one process that waits for many triggers, on one event loop.

It is started like an attempt, by the agent, with the code and the packages of a DAG version, and asks the control plane what
to wait for (`next_triggers`, answered when there is something). Nothing is kept here: when the process dies, another one is
told the same. Only one triggerer holds a trigger, and only that one can fire it.
"""
