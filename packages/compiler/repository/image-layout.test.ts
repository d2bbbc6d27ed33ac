/** Repositories whose images have them at other places than the repository itself. */
import { describe, expect, it } from 'vitest';
import { dagText, workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { discover } from '../discover.ts';
import { findRepository } from './find-repository.ts';

const DAG = dagText('any');
const IMAGE = 'FROM apache/airflow:2.10.5-python3.11\n';

const listOf = async (files: Record<string, string>) => {
  const found = await findRepository(workspaceOf({ 'dags/a.py': DAG, ...files }));
  return {
    list: found?.project.dependencies,
    notes: found?.notes.map(({ message }) => message),
    bundle: found?.bundle,
  };
};

describe('requirements of an image', () => {
  it('are found where COPY, WORKDIR, ADD and mounts have put them', async () => {
    const files = {
      'requirements/base.txt': 'a==1\n',
      'requirements/extra.txt': '-r base.txt\nb\n',
      'docker/c.txt': 'c\n',
      'lib/pyproject.toml':
        '[project]\nname = "lib"\ndependencies = ["d"]\n[project.optional-dependencies]\nduck_db = ["e"]\nother = ["f"]\n',
      Dockerfile: [
        IMAGE,
        'COPY requirements/base.txt requirements.txt',
        'RUN pip install --requirement requirements.txt',
        'WORKDIR /build',
        'COPY ["requirements", "./reqs/"]',
        'ADD --chown=airflow:root docker/*.txt /tmp/',
        'RUN cd reqs && pip install -r extra.txt',
        'RUN pip install -c /tmp/c.txt g',
        'COPY . /srv/code',
        'RUN --mount=type=bind,source=docker/c.txt,target=/run/c.txt pip install -r /run/c.txt "/srv/code/lib[duck-db]"',
      ].join('\n'),
    };
    const { list, notes, bundle } = await listOf(files);
    expect(list).toEqual(['a==1', '--step', 'a==1', 'b', '--step', 'g', '-c c', '--step', 'c', 'd', 'e']);
    expect(notes).toEqual([]);
    expect(bundle?.import_roots).toContain('lib');
  });

  it('come after requirements.txt of the repository, unless a step installs that file', async () => {
    const own = { 'requirements.txt': 'a==1\n', 'override.txt': 'a==2\n' };
    const dockerfile = `${IMAGE}COPY override.txt /tmp/override.txt\nRUN pip install --no-deps -r /tmp/override.txt\n`;
    // The list ends in a plain step, to which packages of connectors may be added.
    expect((await listOf({ ...own, Dockerfile: dockerfile })).list).toEqual([
      'a==1',
      '--step --no-deps',
      'a==2',
      '--step',
    ]);
    const both = `${IMAGE}COPY *.txt /\nRUN pip install --no-deps -r /requirements.txt\nRUN pip install -r /override.txt\n`;
    expect((await listOf({ ...own, Dockerfile: both })).list).toEqual(['--step --no-deps', 'a==1', '--step', 'a==2']);
  });

  it('of Poetry, pdm, pipenv and uv are installed in the versions of their lock files', async () => {
    const lock =
      '[[package]]\nname = "Pandas"\nversion = "2.2.0"\n\n[[package]]\nname = "app"\nversion = "0"\nsource = { editable = "." }\n';
    const project =
      '[project]\nname = "app"\ndependencies = ["pandas>=2", "shared"]\n[tool.uv.sources]\nshared = { workspace = true }\n[tool.uv.workspace]\nmembers = ["packages/*"]\n';
    const shared = '[project]\nname = "Shared"\ndependencies = ["x"]\n';
    const uv = await listOf({
      'pyproject.toml': project,
      'uv.lock': lock,
      'packages/s/pyproject.toml': shared,
      'packages/s/src/shared.py': '',
    });
    expect(uv.list).toEqual(['pandas>=2', 'x', '-c pandas==2.2.0']);
    expect(uv.bundle?.import_roots).toContain('packages/s/src');
    const pipfile = {
      Pipfile: '[packages]\npandas = "*"\n[dev-packages]\npytest = "*"\n',
      'Pipfile.lock': '{"default": {"pandas": {"version": "==2.1.0"}}}',
    };
    expect((await listOf(pipfile)).list).toEqual(['pandas', '-c pandas==2.1.0']);
    const conda = await listOf({
      'environment.yml': 'dependencies:\n  - python=3.11\n  - gdal=3.8\n  - pip:\n    - y==1\n',
    });
    expect(conda.list).toEqual(['y==1']);
    expect(conda.notes?.[0]).toMatch(/^gdal=3.8 of conda is not installed/);
  });
});

describe('folders of an image', () => {
  it('are on the path under the names that they have there', async () => {
    const cfg = '[core]\ndags_folder = /opt/airflow/pkg/dags\n';
    const mounted = await listOf({ 'airflow.cfg': cfg, 'plugins/h.py': '', '.env': 'PYTHONPATH=/opt/airflow/\n' });
    expect(mounted.bundle).toEqual({
      dags: 'dags',
      import_roots: ['dags', 'plugins', '.', 'pkg=.'],
      plugins: ['plugins'],
    });
    const parts = await listOf({
      'plugins/h.py': '',
      Dockerfile: `${IMAGE}COPY dags /opt/airflow/etl/dags\nCOPY plugins/ /opt/airflow/etl/plugins/\nENV PYTHONPATH="/opt/airflow:\${PYTHONPATH}" AIRFLOW__CORE__DAGS_FOLDER=/opt/airflow/etl/dags\n`,
    });
    expect(parts.bundle?.import_roots).toEqual(['dags', 'plugins', '.', 'etl/dags=dags', 'etl/plugins=plugins']);
  });

  it('hold the DAGs where the settings say, when there is no folder dags/', async () => {
    const root = workspaceOf({
      'pkg/dags/a.py': DAG,
      'pkg/plugins/h.py': '',
      'airflow.cfg': '[core]\ndags_folder = /opt/airflow/pkg/dags\n',
    });
    expect((await findRepository(root))?.bundle).toMatchObject({ dags: 'pkg/dags', import_roots: ['pkg/dags', '.'] });
  });
});

describe('packages of an image of Airflow', () => {
  const files = {
    'dags/b.py': `${DAG}import requests, sqlalchemy.orm\nfrom pandas import DataFrame\nimport left_out\n`,
    'plugins/own.py': 'import yaml\nfrom httpx import get\n',
    'plugins/httpx.py': '',
    'tests/test_b.py': 'import redis\n',
  };

  it('that files of the repository import are installed, and a note names them', async () => {
    const { list, notes } = await listOf({ ...files, Dockerfile: IMAGE });
    expect(list).toEqual(['pandas', 'pyyaml', 'requests', 'sqlalchemy']);
    expect(notes?.join()).toMatch(
      /^pandas, pyyaml, requests, sqlalchemy of the image apache\/airflow:2\.10\.5-python3\.11 are/,
    );
  });

  it('are left to the repository where it lists them, and where the image is another one', async () => {
    const own = { ...files, 'requirements.txt': 'pandas==2.2.0\nrequests\nPyYAML<7\n' };
    expect((await listOf({ ...own, Dockerfile: 'FROM apache/airflow:slim-3.2.2\n' })).list).toEqual([
      'pandas==2.2.0',
      'requests',
      'PyYAML<7',
      'sqlalchemy',
    ]);
    expect((await listOf({ ...files, Dockerfile: 'FROM example/airflow-base:1\n' })).list).toEqual([]);
  });

  it('are those that Airflow itself needs where no Dockerfile says which image it is', async () => {
    const { list, notes } = await listOf(files);
    expect(list).toEqual(['pyyaml', 'requests', 'sqlalchemy']);
    expect(notes?.join()).toContain('pyyaml, requests, sqlalchemy which Airflow itself needs, are imported');
  });
});

describe('a repository of Amazon MWAA', () => {
  it('has the requirements in their folder, and variables that its startup script always exports with a fixed value', async () => {
    const root = workspaceOf({
      'dags/a.py': DAG,
      'requirements/requirements.txt': 'tabulate==0.9.0\n',
      'startup_script/startup.sh': [
        '#!/bin/sh',
        'export STAGE="test" # of the shop',
        'export PLACE=$STAGE/eu',
        'export NOW=$(date)',
        'export DB_PASSWORD=hidden',
        'if [ "$MWAA_AIRFLOW_COMPONENT" = worker ]; then',
        '  export ONLY_WORKER=1',
        'fi',
      ].join('\n'),
    });
    const found = await findRepository(root);
    expect(found?.env).toEqual({ STAGE: 'test', PLACE: 'test/eu' });
    expect(found?.settingsFiles).toContain('startup_script/startup.sh');
    expect(found?.project.dependencies).toEqual(['tabulate==0.9.0']);
  });
});

describe('a file that only has assets', () => {
  it('is a DAG file: Airflow loads it without the word that other files have', async () => {
    const text = 'from airflow.sdk import asset\n@asset(schedule=None)\ndef orders(): ...\n';
    const root = workspaceOf({ 'dags/a.py': DAG, 'dags/orders.py': text, 'dags/asset_helper.py': 'x = 1\n' });
    expect((await discover(root)).map(({ name }) => name)).toEqual(['dags/a.py', 'dags/orders.py']);
  });
});
