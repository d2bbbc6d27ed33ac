"""Recording: plain objects that remember what a DAG file said. No scheduling logic lives here."""
