"""Run time: what a task body sees. The runner (agent side) fills `current` and drives `execute`."""
