"""Compile: execute one DAG file, turn what it recorded into canonical JSON."""
