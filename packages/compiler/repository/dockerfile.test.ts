import { describe, expect, it } from 'vitest';
import { readDockerfile } from './dockerfile.ts';

const AIRFLOW = 'FROM apache/airflow:3.2.2-python3.12\n';
const read = (lines: string) => readDockerfile(AIRFLOW + lines);

describe('the Dockerfile of an Airflow image', () => {
  it.each([
    ['apache/airflow:2.9.3-python3.11', 2],
    ['apache/airflow:slim-3.0.1', 3],
    ['docker.io/apache/airflow:3.1', 3],
    ['quay.io/astronomer/astro-runtime:12.1.0', 2],
    ['astrocrpublic.azurecr.io/runtime:3.0-4', 3],
    ['apache/airflow', undefined],
  ])('is known by its base: %s', (base, major) => {
    expect(readDockerfile(`ARG X=1\nFROM ${base} AS runtime\n`)).toMatchObject({ base: `${base} AS runtime` });
    expect(readDockerfile(`FROM ${base}\n`).airflowMajor).toBe(major);
  });

  it('of another base is not read', () => {
    const found = readDockerfile('FROM python:3.12\nRUN pip install pandas\nENV A=1\n');
    expect(found).toMatchObject({ base: undefined, pip: [], env: {}, notes: [] });
  });

  it('has its base in an argument as often as not', () => {
    expect(readDockerfile('ARG AIRFLOW=2.9.3\nFROM apache/airflow:${AIRFLOW}\n').airflowMajor).toBe(2);
  });

  it('installs packages with pip in all its forms, and with uv', () => {
    const { pip } = read(
      [
        'RUN pip install --no-cache-dir "pandas==2.2" requests',
        'RUN python -m pip install -r /requirements.txt -c constraints.txt && uv pip install duckdb',
        'RUN ["pip", "install", "one"]',
        'RUN pip3 install --index-url https://example.org/simple two',
        'RUN pip install --upgrade pip',
      ].join('\n'),
    );
    expect(pip.map(({ text, line }) => `${line} ${text}`)).toEqual([
      '2 pandas==2.2',
      '2 requests',
      '3 -r requirements.txt',
      '3 -c constraints.txt',
      '3 duckdb',
      '4 one',
      '5 --index-url https://example.org/simple',
      '5 two',
    ]);
  });

  it('installs Debian packages, over many lines and in a here-document', () => {
    const lines = [
      'USER root',
      'RUN apt-get update \\',
      '  # what the driver needs',
      '  && apt-get install -y --no-install-recommends \\',
      '     libpq-dev \\',
      '     gcc \\',
      '  && rm -rf /var/lib/apt/lists/*',
      'RUN <<EOF',
      'apt-get install -y git',
      'pip install x',
      'EOF',
      'USER airflow',
    ].join('\n');
    const found = read(lines);
    expect(found.apt).toEqual(['libpq-dev', 'gcc', 'git']);
    expect(found.pip.map(({ text }) => text)).toEqual(['x']);
    expect(found.notes).toEqual([]);
  });

  it('sets variables in both forms, with those before them', () => {
    const { env } = read('ARG WHO=world\nENV A=1 B="two words" C=\'$A\'\nENV GREETING hello ${WHO}\nENV D=${A}${B}\n');
    expect(env).toEqual({ A: '1', B: 'two words', C: '$A', GREETING: 'hello world', D: '1two words' });
  });

  it('names what is not carried out, with its line', () => {
    const { notes } = read(
      'RUN pip install a && curl -fsS https://example.org/x.sh | bash\nENTRYPOINT ["tini"]\nCOPY . .\n',
    );
    expect(notes.map(({ line, message }) => `${line}: ${message}`)).toEqual([
      '2: is not carried out: curl -fsS https://example.org/x.sh | bash',
      '3: ENTRYPOINT is not carried out: ["tini"]',
    ]);
  });
});
