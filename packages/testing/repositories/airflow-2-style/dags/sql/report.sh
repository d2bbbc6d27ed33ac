echo "report of {{ execution_date }}, from {{ yesterday_ds }}"
