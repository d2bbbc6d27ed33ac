/**
 * Sixteen repositories, each laid out as the documentation of a product or a tool shows it. Each has the DAG files of dags/, and files
 * of its own that work only with the paths, settings and packages of its layout.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export type Layout = {
  readonly name: string;
  /** Where its DAG files are. */
  readonly dags: string;
  /** Folders on the path in its image, relative to the repository; `a=b`: folder b under the name a. */
  readonly path: readonly string[];
  /** The working directory of its image, relative to the repository. */
  readonly workingFolder?: string;
  /** Variables that its image or its start script sets. */
  readonly env?: Readonly<Record<string, string>>;
  /** By path, without the files of dags/. */
  readonly files: Readonly<Record<string, string>>;
};

const DAGS = join(import.meta.dirname, 'dags');

/** The files that every repository has in its DAGs folder. */
export const SHARED_FILES: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(DAGS)
    .filter((name) => name.endsWith('.py'))
    .map((name) => [name, readFileSync(join(DAGS, name), 'utf8')]),
);

/** A DAG whose task is named by a value that only the layout can give. */
const dagNamedBy = (id: string, { top, value }: { top: string; value: string }): string =>
  `${top}
from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

with DAG("${id}", schedule=None):
    BashOperator(task_id=str(${value}), bash_command="x")
`;

const HELPER = 'NAME = "of_helper"\n';

const OPERATOR = `from airflow.sdk import BaseOperator


class Own(BaseOperator):
    template_fields = ("a",)

    def __init__(self, a=None, **kwargs):
        super().__init__(**kwargs)
        self.a = a

    def execute(self, context): ...
`;

const dagOfOperator = (id: string, module: string): string =>
  `from ${module} import Own
from airflow.sdk import DAG

with DAG("${id}", schedule="@daily"):
    Own(task_id="a") >> Own.partial(task_id="b", retries=2).expand(a=[1, 2])
`;

const PLUGIN = `from airflow.plugins_manager import AirflowPlugin


def half(x):
    return x / 2


class OwnPlugin(AirflowPlugin):
    name = "own"
    macros = [half]
`;

/** Spellings of Airflow 1.10 and 2 that Airflow 3.2 refuses. */
const DAG_OF_1 = `import airflow
from airflow.models import DAG
from airflow.operators.bash_operator import BashOperator
from airflow.operators.dummy_operator import DummyOperator
from airflow.operators.python_operator import PythonOperator
from airflow.utils.dates import days_ago

args = {"owner": "airflow", "start_date": days_ago(2), "retries": 1}
dag = DAG(dag_id="of_1", default_args=args, schedule_interval="0 0 * * *")
run_this_last = DummyOperator(task_id="run_this_last", dag=dag)
for i in range(3):
    task = BashOperator(task_id="runme_" + str(i), bash_command="echo {{ task_instance_key_str }}", dag=dag)
    task.set_downstream(run_this_last)
PythonOperator(task_id="also", python_callable=lambda ds, **kwargs: ds, provide_context=True, dag=dag) >> run_this_last
`;

const DAG_OF_2 = `from datetime import datetime

from airflow import DAG, Dataset
from airflow.decorators import task
from airflow.operators.bash import BashOperator
from airflow.operators.empty import EmptyOperator

with DAG("of_2", schedule_interval="@daily", start_date=datetime(2024, 1, 1), concurrency=4, default_view="graph") as dag:
    BashOperator(task_id="t", bash_command="x", outlets=[Dataset("s3://x")], trigger_rule="none_failed_or_skipped")
    EmptyOperator(task_id="end", task_concurrency=2)
`;

export const LAYOUTS: readonly Layout[] = [
  {
    // astronomer.io/docs: what `astro dev init` makes.
    name: 'astronomer',
    dags: 'dags',
    path: ['dags', 'plugins', '.'],
    files: {
      'dags/of_home.py': dagNamedBy('of_home', {
        top: 'import json, os\nP = os.path.join(os.environ["AIRFLOW_HOME"], "include", "settings.json")',
        value: 'json.load(open(P))["names"][1]',
      }),
      'dags/of_settings.py': dagNamedBy('of_settings', {
        top: 'from airflow.models import Variable',
        value: 'Variable.get("shop_stage", default_var="none")',
      }),
      Dockerfile: 'FROM astrocrpublic.azurecr.io/runtime:3.2-2\n',
      '.astro/config.yaml': 'project:\n  name: shop\n',
      'airflow_settings.yaml': 'airflow:\n  connections: []\n  pools: []\n  variables: []\n',
      'packages.txt': '',
      'requirements.txt': '',
      'include/__init__.py': '',
      'include/helper.py': HELPER,
      'include/table.sql': 'select 1',
      'include/settings.json': '{"names": ["one", "two"]}',
      'plugins/own_plugin.py': OPERATOR,
      'dags/uses_include.py': dagNamedBy('uses_include', { top: 'from include.helper import NAME', value: 'NAME' }),
      'dags/opens_include.py': dagNamedBy('opens_include', {
        top: 'import json\nNAMES = json.load(open("include/settings.json"))["names"]',
        value: '"_".join(NAMES)',
      }),
      'dags/uses_plugin.py': dagOfOperator('uses_plugin', 'own_plugin'),
      'tests/dags/test_dags.py': 'from airflow.models import DagBag\n\n\ndef test():\n    DagBag()\n',
    },
  },
  {
    // astronomer-cosmos: a dbt project inside of the folder of DAGs, and tasks from its manifest.
    name: 'cosmos',
    dags: 'dags',
    path: ['dags', 'plugins', '.'],
    files: {
      Dockerfile: 'FROM quay.io/astronomer/astro-runtime:13.0.0\n',
      'requirements.txt': '',
      'packages.txt': '',
      'dags/dbt/shop/dbt_project.yml': 'name: shop\nprofile: shop\nmodel-paths: [models]\n',
      'dags/dbt/shop/models/orders.sql': 'select 1 as id',
      'dags/dbt/shop/models/people.sql': "select * from {{ ref('orders') }}",
      'dags/dbt/shop/target/manifest.json': JSON.stringify({
        nodes: {
          'model.shop.orders': { resource_type: 'model', name: 'orders', depends_on: { nodes: [] } },
          'model.shop.people': { resource_type: 'model', name: 'people', depends_on: { nodes: ['model.shop.orders'] } },
        },
      }),
      'dags/of_manifest.py': `import json
from pathlib import Path

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

SHOP = Path(__file__).parent / "dbt" / "shop"
NODES = json.loads((SHOP / "target" / "manifest.json").read_text())["nodes"]

with DAG("of_manifest", schedule="@daily", default_args={"retries": 2}):
    tasks = {
        key: BashOperator(task_id=node["name"], bash_command=f"dbt run --select {node['name']}", cwd=str(SHOP))
        for key, node in NODES.items()
    }
    for key, node in NODES.items():
        for upstream in node["depends_on"]["nodes"]:
            tasks[upstream] >> tasks[key]
`,
    },
  },
  {
    // airflow.apache.org/docs/docker-stack: an image that extends the official one.
    name: 'official-image',
    dags: 'dags',
    path: ['dags', 'config', 'plugins', '.'],
    env: { AIRFLOW_VAR_SHOP_STAGE: 'live' },
    files: {
      'dags/of_conf.py': dagNamedBy('of_conf', {
        top: 'import os\nfrom airflow.configuration import conf\nFOLDER = conf.get("core", "dags_folder")',
        value: 'sorted(os.listdir(os.path.join(FOLDER, "team")))[0].replace(".", "_")',
      }),
      'dags/of_variable.py': dagNamedBy('of_variable', {
        top: 'from airflow.sdk import Variable',
        value: 'Variable.get("shop_stage")',
      }),
      Dockerfile:
        'FROM apache/airflow:3.2.2\nENV AIRFLOW_VAR_SHOP_STAGE=live\nCOPY requirements.txt /\nRUN pip install --no-cache-dir "apache-airflow==${AIRFLOW_VERSION}" -r /requirements.txt\n',
      'docker-compose.yaml':
        'services:\n  airflow:\n    build: .\n    volumes:\n      - ./dags:/opt/airflow/dags\n      - ./config:/opt/airflow/config\n      - ./plugins:/opt/airflow/plugins\n',
      'requirements.txt': '',
      'config/settings_of_ours.py': HELPER,
      'plugins/operators/__init__.py': '',
      'plugins/operators/own.py': OPERATOR,
      'dags/team/nested.py': dagNamedBy('nested', { top: 'from settings_of_ours import NAME', value: 'NAME' }),
      'dags/uses_plugin.py': dagOfOperator('uses_plugin', 'operators.own'),
      'dags/.airflowignore': 'drafts/\n',
      'dags/drafts/broken.py': 'from airflow import DAG\n1/0\n',
    },
  },
  {
    // docs.aws.amazon.com/mwaa and aws-mwaa-docker-images: requirements/, plugins/ and startup.sh.
    name: 'mwaa',
    dags: 'dags',
    path: ['dags', 'plugins', '.'],
    env: { SHOP_STAGE: 'test' },
    files: {
      'dags/of_startup.py': dagNamedBy('of_startup', { top: 'import os', value: 'os.environ["SHOP_STAGE"]' }),
      'dags/utils/__init__.py': dagNamedBy('of_package', { top: '', value: '"x"' }),
      'requirements/requirements.txt':
        '--constraint "https://example.org/apache/airflow/constraints-3.0.6/constraints-3.12.txt"\n',
      'startup_script/startup.sh': '#!/bin/sh\nexport SHOP_STAGE=test\n',
      'plugins/hooks/__init__.py': '',
      'plugins/hooks/own.py': OPERATOR,
      'dags/uses_plugin.py': dagOfOperator('uses_plugin', 'hooks.own'),
      'dags/lib/__init__.py': '',
      'dags/lib/helper.py': HELPER,
      'dags/uses_lib.py': dagNamedBy('uses_lib', { top: 'from lib.helper import NAME', value: 'NAME' }),
      'dags/of_2.py': DAG_OF_2,
    },
  },
  {
    // cloud.google.com/composer/docs: folders dags, plugins and data of a bucket.
    name: 'composer',
    dags: 'dags',
    path: ['dags', 'plugins', '.'],
    files: {
      'requirements.txt': '',
      'plugins/own_plugin.py': OPERATOR,
      'data/tables.json': '["a", "b"]',
      'dags/uses_plugin.py': dagOfOperator('uses_plugin', 'own_plugin'),
      'dags/of_data.py': dagNamedBy('of_data', {
        top: 'import json, os\nP = os.path.join(os.path.dirname(__file__), "..", "data", "tables.json")',
        value: 'json.load(open(P))[1]',
      }),
      'dags/dependencies/helper.py': HELPER,
      'dags/by_namespace.py': dagNamedBy('by_namespace', {
        top: 'from dependencies.helper import NAME',
        value: 'NAME',
      }),
      'dags/of_2.py': DAG_OF_2,
    },
  },
  {
    // python-poetry.org/docs/pyproject: a package in src/ that its DAGs import.
    name: 'poetry',
    dags: 'dags',
    path: ['dags', '.', 'src'],
    files: {
      'pyproject.toml': `[tool.poetry]
name = "shop"
version = "1"
packages = [{include = "shop", from = "src"}]

[tool.poetry.dependencies]
python = "^3.11"
apache-airflow = "^3.0"
`,
      'src/shop/__init__.py': '',
      'src/shop/helper.py': HELPER,
      'src/shop/operators.py': OPERATOR,
      'dags/uses_src.py': dagNamedBy('uses_src', { top: 'from shop.helper import NAME', value: 'NAME' }),
      'dags/uses_operator.py': dagOfOperator('uses_operator', 'shop.operators'),
    },
  },
  {
    // docs.astral.sh/uv/concepts/projects/workspaces
    name: 'uv-workspace',
    dags: 'dags',
    path: ['dags', '.', 'packages/common/src', 'packages/loaders/src'],
    files: {
      'pyproject.toml': `[project]
name = "flows"
version = "1"
dependencies = ["apache-airflow>=3", "common", "loaders"]

[tool.uv.sources]
common = { workspace = true }
loaders = { workspace = true }

[tool.uv.workspace]
members = ["packages/*"]
`,
      'packages/common/pyproject.toml': '[project]\nname = "common"\nversion = "1"\ndependencies = []\n',
      'packages/common/src/common/__init__.py': HELPER,
      'packages/loaders/pyproject.toml': '[project]\nname = "loaders"\nversion = "1"\ndependencies = ["common"]\n',
      'packages/loaders/src/loaders/__init__.py': 'from common import NAME\n\nLOADS = f"loads_{NAME}"\n',
      'dags/uses_member.py': dagNamedBy('uses_member', { top: 'from common import NAME', value: 'NAME' }),
      'dags/uses_both.py': dagNamedBy('uses_both', { top: 'from loaders import LOADS', value: 'LOADS' }),
    },
  },
  {
    // A package with DAGs in it, which the image has under another name.
    name: 'package-with-dags',
    dags: 'shop/dags',
    path: ['shop/dags', '.', 'pkg=shop'],
    files: {
      Dockerfile: `FROM apache/airflow:2.9.3
COPY shop /opt/airflow/pkg
ENV PYTHONPATH=/opt/airflow/
ENV AIRFLOW__CORE__DAGS_FOLDER=/opt/airflow/pkg/dags
`,
      'shop/__init__.py': '',
      'shop/plugins/__init__.py': '',
      'shop/plugins/h.py': HELPER,
      'shop/plugins/own.py': OPERATOR,
      'shop/dags/by_name_in_image.py': dagNamedBy('by_name_in_image', {
        top: 'from pkg.plugins.h import NAME',
        value: 'NAME',
      }),
      'shop/dags/operator_by_name_in_image.py': dagOfOperator('operator_by_name_in_image', 'pkg.plugins.own'),
      'shop/dags/of_2.py': DAG_OF_2,
    },
  },
  {
    // astronomer.github.io/dag-factory: DAGs from YAML files, here with a loader of the repository's own.
    name: 'dag-factory',
    dags: 'dags',
    path: ['dags', '.'],
    files: {
      'requirements.txt': '',
      'dags/config/one.yaml': `made_one:
  schedule: "@daily"
  default_args: {retries: 2}
  tasks:
    extract: {bash_command: echo a}
    load: {bash_command: echo b, dependencies: [extract], trigger_rule: all_done}
`,
      'dags/config/two.yaml': 'made_two:\n  schedule: null\n  tasks:\n    only: {bash_command: echo c, retries: 4}\n',
      'dags/made.py': `from pathlib import Path

import yaml
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

for path in sorted((Path(__file__).parent / "config").glob("*.yaml")):
    for name, given in yaml.safe_load(path.read_text()).items():
        with DAG(name, schedule=given["schedule"], default_args=given.get("default_args", {})) as made:
            tasks = {}
            for task_id, settings in given["tasks"].items():
                upstream = settings.pop("dependencies", [])
                tasks[task_id] = BashOperator(task_id=task_id, **settings)
                for other in upstream:
                    tasks[other] >> tasks[task_id]
        globals()[name] = made
`,
    },
  },
  {
    // A folder of DAG files without a folder dags/, as it is mounted into one.
    name: 'flat',
    dags: '.',
    path: ['.'],
    files: {
      '.airflowignore': 'not_dags/.*\n',
      'requirements.txt': 'apache-airflow==2.10.5\n',
      'helper.py': HELPER,
      'not_dags/broken.py': 'from airflow import DAG\n1/0\n',
      'uses_helper.py': dagNamedBy('uses_helper', { top: 'from helper import NAME', value: 'NAME' }),
      'of_2.py': DAG_OF_2,
    },
  },
  {
    // As the tutorials of Airflow 1.10 had it: airflow.cfg, dags/ and operators in plugins/.
    name: 'airflow-1',
    dags: 'dags',
    path: ['dags', 'plugins', '.'],
    files: {
      'requirements.txt': '',
      'airflow.cfg': '[core]\ndags_folder = /root/airflow/dags\nload_examples = False\n',
      'plugins/__init__.py': '',
      'plugins/operators_of_ours.py': OPERATOR,
      'dags/of_1.py': DAG_OF_1,
      'dags/import_airflow.py': `import airflow
from airflow.models import DAG
from airflow.operators.bash import BashOperator
from datetime import datetime

dag = DAG("import_airflow", schedule="@daily", start_date=datetime(2026, 1, 1))
BashOperator(task_id="a", bash_command="x", dag=dag) >> BashOperator(task_id="b", bash_command="x", dag=dag)
`,
      'dags/uses_plugin.py': dagOfOperator('uses_plugin', 'operators_of_ours'),
    },
  },
  {
    // Several deployments in one repository, which share a library.
    name: 'monorepo',
    dags: 'orders/dags',
    path: ['orders/dags', 'orders/plugins', 'orders', 'orders/libs/pricing/src'],
    workingFolder: 'orders',
    files: {
      'README.md': '# Deployments\n',
      'orders/requirements.txt': '-e ./libs/pricing\n',
      'orders/plugins/own.py': OPERATOR,
      'orders/libs/pricing/pyproject.toml': '[project]\nname = "pricing"\nversion = "1"\n',
      'orders/libs/pricing/src/pricing/__init__.py': HELPER,
      'orders/dags/uses_pricing.py': dagNamedBy('uses_pricing', { top: 'from pricing import NAME', value: 'NAME' }),
      'orders/dags/uses_plugin.py': dagOfOperator('uses_plugin', 'own'),
      'orders/dags/templates.py': `from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

with DAG("templates", schedule=None, template_searchpath=["dags/sql"], user_defined_macros={"a": 1, 2: 3}):
    BashOperator(task_id="t", bash_command="echo {{ a }}", env={"X": "{{ ds }}"})
`,
      'orders/dags/sql/a.sql': 'select {{ ds }}',
    },
  },
  {
    // airflow.cfg names both folders.
    name: 'settings-file',
    dags: 'pipelines',
    path: ['pipelines', 'extensions', '.'],
    files: {
      'airflow.cfg': '[core]\ndags_folder = /opt/airflow/pipelines\nplugins_folder = /opt/airflow/extensions\n',
      'extensions/own_plugin.py': OPERATOR,
      'extensions/macros_of_ours.py': PLUGIN,
      'pipelines/uses_plugin.py': dagOfOperator('uses_plugin', 'own_plugin'),
      'pipelines/uses_macro.py': dagNamedBy('uses_macro', {
        top: 'from macros_of_ours import half',
        value: 'int(half(8))',
      }),
    },
  },
  {
    // setuptools.pypa.io: a package in src/, installed with -e.
    name: 'src-layout',
    dags: 'dags',
    path: ['dags', '.', 'src'],
    files: {
      'setup.py':
        'from setuptools import find_packages, setup\n\nsetup(name="shop", packages=find_packages("src"), package_dir={"": "src"})\n',
      'requirements.txt': '-e .\n',
      'src/shop/__init__.py': HELPER,
      'src/shop/etl/__init__.py': '',
      'src/shop/etl/operators.py': OPERATOR,
      'dags/uses_src.py': dagNamedBy('uses_src', { top: 'import shop', value: 'shop.NAME' }),
      'dags/uses_operator.py': dagOfOperator('uses_operator', 'shop.etl.operators'),
    },
  },
  {
    // airflow.apache.org/docs: "Typical structure of packages" in modules_management.
    name: 'relative-helpers',
    dags: 'dags',
    path: ['dags', '.'],
    files: {
      'requirements.txt': '',
      'dags/common/__init__.py': 'from .names import NAME\n',
      'dags/common/names.py': HELPER,
      'dags/.airflowignore': 'common/\n# a comment\n',
      'dags/team_a/uses_common.py': dagNamedBy('uses_common', { top: 'from common import NAME', value: 'NAME' }),
      'dags/team_b/by_full_path.py': dagNamedBy('by_full_path', {
        top: 'from dags.common.names import NAME',
        value: 'NAME',
      }),
      'dags/team_b/by_path_of_file.py': dagNamedBy('by_path_of_file', {
        top: 'import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), "own_modules"))\nfrom words import NAME',
        value: 'NAME',
      }),
      'dags/team_b/own_modules/words.py': HELPER,
    },
  },
  {
    // docs.docker.com/build/building/multi-stage with the official image as the last stage.
    name: 'multi-stage',
    dags: 'dags',
    path: ['dags', 'plugins', '.', 'lib'],
    env: { SHOP_STAGE: 'live' },
    files: {
      Dockerfile: `FROM python:3.11 AS build
COPY lib /src/lib
FROM apache/airflow:3.2.2 AS final
COPY --from=build /src/lib /opt/lib
ENV PYTHONPATH="/opt/lib" SHOP_STAGE=live
WORKDIR /opt/airflow
`,
      'plugins/.keep': '',
      'lib/shared_code/__init__.py': HELPER,
      'dags/uses_lib.py': dagNamedBy('uses_lib', { top: 'from shared_code import NAME', value: 'NAME' }),
      'dags/of_variable.py': dagNamedBy('of_variable', { top: 'import os', value: 'os.environ["SHOP_STAGE"]' }),
    },
  },
];

/** All files of a repository, also those that every repository has. */
export const filesOf = ({ dags, files }: Layout): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(SHARED_FILES).map(([name, text]) => [`${dags}/${name}`, text])),
  ...files,
});
