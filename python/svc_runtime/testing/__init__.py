"""Tests of DAGs with pytest: what `svc.testing` and the plugin of pytest have."""
