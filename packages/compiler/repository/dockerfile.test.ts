import { describe, expect, it } from 'vitest';
import { readDockerfile } from './dockerfile.ts';

const AIRFLOW = 'FROM apache/airflow:3.2.2-python3.12\n';
const read = (lines: string) => readDockerfile(AIRFLOW + lines);

const textsOf = (steps: ReturnType<typeof read>['steps']) =>
  steps.flatMap(({ lines }) => lines.map(({ text, line }) => `${line} ${text}`));

describe('the Dockerfile of an Airflow image', () => {
  it.each([
    ['apache/airflow:2.9.3-python3.11', 2],
    ['apache/airflow:slim-3.0.1', 3],
    ['docker.io/apache/airflow:3.1', 3],
    ['quay.io/astronomer/astro-runtime:12.1.0', 2],
    ['astrocrpublic.azurecr.io/runtime:3.0-4', 3],
    ['apache/airflow', undefined],
  ])('is known by its base: %s', (base, major) => {
    expect(readDockerfile(`ARG X=1\nFROM ${base} AS runtime\n`)).toMatchObject({ base });
    expect(readDockerfile(`FROM ${base}\n`).airflowMajor).toBe(major);
  });

  it('of another base is not read', () => {
    const found = readDockerfile('FROM python:3.12\nRUN pip install pandas\nENV A=1\n');
    expect(found).toMatchObject({ base: undefined, steps: [], env: {}, notes: [] });
  });

  it('has its base in an argument as often as not', () => {
    expect(readDockerfile('ARG AIRFLOW=2.9.3\nFROM apache/airflow:${AIRFLOW}\n').airflowMajor).toBe(2);
  });

  it('installs packages with pip in all its forms, and with uv', () => {
    const { steps } = read(
      [
        'RUN pip install --no-cache-dir "pandas==2.2" requests',
        'RUN python -m pip install -r /requirements.txt -c constraints.txt && uv pip install duckdb',
        'RUN ["pip", "install", "one"]',
        'RUN pip3 install --index-url https://example.org/simple two',
        'RUN pip install --upgrade pip',
      ].join('\n'),
    );
    expect(textsOf(steps)).toEqual([
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
    expect(textsOf(found.steps)).toEqual(['9 x']);
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

describe('commands of a Dockerfile', () => {
  const steps = (lines: string) =>
    read(lines).steps.map(({ flags, lines: items }) => [...flags, ...items.map(({ text }) => text)]);

  it('are steps of their own, so that a later pin replaces an earlier one instead of contradicting it', () => {
    expect(steps('RUN pip install "a==1" b\nRUN pip install --no-cache-dir --no-deps -U a==2\n')).toEqual([
      ['a==1', 'b'],
      ['--no-deps', '--upgrade', 'a==2'],
    ]);
    expect(
      steps('RUN su airflow -c \'pip install "x>1"\' && /home/airflow/.local/bin/pip install y 2>&1 > log\n'),
    ).toEqual([['x>1'], ['y']]);
  });

  it('keep their words: variables, quotes in the middle of a word, and the end of a command within quotes', () => {
    const text = [
      'ARG EXTRAS="one two"',
      'ARG PINS',
      'ENV LIB=${AIRFLOW_HOME}/lib',
      'RUN uv pip install --system -e "${LIB}"[postgres,duckdb] && pip install $EXTRAS "c; python_version > \'3\'" d==${VERSION:-4}',
      'RUN V=5 && export W=6; pip install e==$V f==${W} "apache-airflow==${AIRFLOW_VERSION}" "git+https://${TOKEN}@example.org/g.git"',
    ].join('\n');
    expect(steps(text)).toEqual([
      ['-e /opt/airflow/lib[postgres,duckdb]'],
      ['one', 'two', "c; python_version > '3'", 'd==4'],
      ['e==5', 'f==6', 'apache-airflow==3.2.2', 'git+https://${TOKEN}@example.org/g.git'],
    ]);
  });

  it('of stages count when the last image has what they made', () => {
    const text = [
      'ARG VERSION=2.10.5',
      'FROM python:3.12 AS tools',
      'RUN pip install not-in-the-image',
      'FROM apache/airflow:${VERSION} AS base',
      'ENV A=1',
      'RUN pip install a',
      'FROM base AS wheels',
      'RUN pip install --prefix /w b',
      'FROM base',
      'COPY --from=wheels /w /home/airflow/.local',
      'RUN pip install c',
    ].join('\n');
    const found = readDockerfile(text);
    expect(found).toMatchObject({ base: 'apache/airflow:2.10.5', airflowMajor: 2, env: { A: '1' } });
    expect(textsOf(found.steps)).toEqual(['6 a', '8 b', '11 c']);
  });

  it('that other tools understand are read as projects, or named', () => {
    expect(steps('RUN poetry config virtualenvs.create false && poetry install --only main\n')).toEqual([
      ['-r pyproject.toml'],
    ]);
    expect(steps('RUN pipenv install --system --deploy\n')).toEqual([['-r Pipfile']]);
    expect(steps('RUN conda env update -n base -f environment.yml\n')).toEqual([['-r environment.yml']]);
    expect(read('RUN pip install $(cat wanted.txt)\n').notes.map(({ message }) => message)).toEqual([
      'is not carried out: pip install $(cat wanted.txt)',
    ]);
  });
});
