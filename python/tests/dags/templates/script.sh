echo "{{ ds }}" "{{ var.value.get('bucket', 'none') }}"
