"""`dag.test()` and `DagBag`: DAGs run and load in the process that asks, without a server."""
