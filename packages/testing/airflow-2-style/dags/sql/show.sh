echo "from {{ yesterday_ds }} to {{ execution_date }}"
