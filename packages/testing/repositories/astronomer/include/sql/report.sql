select '{{ ds }}' as day, {{ params.limit }} as most
