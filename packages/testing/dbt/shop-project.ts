/** A small dbt project with one of everything: seeds, views, a table, a snapshot, tests, a source with freshness. */

export const SHOP: Readonly<Record<string, string>> = {
  'dbt_project.yml': [
    'name: shop',
    "version: '1.0'",
    'profile: shop',
    'models: { shop: { marts: { +materialized: table } } }',
    '',
  ].join('\n'),
  'seeds/raw_orders.csv': 'id,customer,total\n1,ann,10.0\n2,bob,20.5\n3,ann,4.5\n',
  'models/staging/stg_orders.sql': "select id, customer, total from {{ ref('raw_orders') }}\n",
  'models/staging/stg_customers.sql': "select distinct customer from {{ ref('stg_orders') }}\n",
  'models/marts/revenue.sql':
    "select customer, sum(total) as total from {{ ref('stg_orders') }}\njoin {{ ref('stg_customers') }} using (customer) group by 1\n",
  'models/schema.yml': [
    'version: 2',
    'models:',
    '  - name: stg_orders',
    '    columns: [{ name: id, data_tests: [unique, not_null] }]',
    '  - name: stg_customers',
    '    columns:',
    '      - name: customer',
    '        data_tests:',
    "          - relationships: { arguments: { to: ref('stg_orders'), field: customer } }",
    '  - name: revenue',
    '    columns: [{ name: total, data_tests: [not_null] }]',
    '',
  ].join('\n'),
  'snapshots/orders_snapshot.sql': [
    '{% snapshot orders_snapshot %}',
    "{{ config(target_schema='snapshots', unique_key='id', strategy='check', check_cols='all') }}",
    "select * from {{ ref('stg_orders') }}",
    '{% endsnapshot %}',
    '',
  ].join('\n'),
};

/** As files of a workspace, below a folder. */
export const filesBelow = (folder: string, files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
