import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { uvFolder } from '@svc/testing/uv/environment.ts';
import { createPythonEnvironments } from './environments.ts';

/** A package that needs no network: a wheel is a zip of a certain form. */
const WRITE_WHEEL = `
import sys, zipfile
info = "apache_airflow_providers_probe-3.1.dist-info"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("svc_probe.py", "ANSWER = 42\\n")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: Apache_Airflow-Providers.probe\\nVersion: 3.1\\nSummary: Probes of all kinds\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;

let folder: string;
let base: string;
let wheel: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-environments-'));
  base = await pythonEnvironment();
  wheel = join(folder, 'apache_airflow_providers_probe-3.1-py3-none-any.whl');
  execFileSync(base, ['-c', WRITE_WHEEL, wheel]);
});

/** A provider of somebody else, which only its entry point tells. */
const WRITE_FOREIGN = `
import sys, zipfile
info = "orchard_hooks-0.2.dist-info"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("orchard_hooks.py", "def info(): return {'connection-types': [{'connection-type': 'orchard', 'hook-name': 'Orchard'}]}")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: orchard-hooks\\nVersion: 0.2\\nProject-URL: Source, https://example.org/git\\nProject-URL: Documentation, https://example.org/docs\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/entry_points.txt", "[apache_airflow_provider]\\nprovider_info=orchard_hooks:info\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;

/** Needs parts of Airflow, as every provider package does. */
const WRITE_DEPENDENT = `
import sys, zipfile
info = "needs_airflow-1.0.dist-info"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("needs_airflow.py", "")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: needs-airflow\\nVersion: 1.0\\nRequires-Dist: apache-airflow-task-sdk>=1.0\\nRequires-Dist: apache-airflow-providers-standard>=1.2\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;

/** The second version needs a package that does not exist: it can be installed only as an image does it, without dependencies. */
const WRITE_STEPPED = `
import sys, zipfile
version = sys.argv[2]
info = f"stepped-{version}.0.dist-info"
needs = "Requires-Dist: needed-by-nobody==9\\n" if version == "2" else ""
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("stepped.py", f"VERSION = {version}\\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: stepped\\nVersion: {version}.0\\n{needs}")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", f"stepped.py,,\\n{info}/METADATA,,\\n{info}/WHEEL,,\\n{info}/RECORD,,\\n")
`;

const BROKEN_BUILD = 'def build_wheel(*_, **__):\n    raise SystemExit("Error: pg_config executable not found")\n';

/** A package whose build looks around; it needs no other to be built. */
const NOSY_PROJECT = '[build-system]\nrequires = []\nbuild-backend = "nosy_build"\nbackend-path = ["."]\n';
const NOSY_BUILD = `
import os, zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    with open(os.environ["NOSY_OUT"], "w") as out:
        out.write(" ".join(os.environ))
    name = "nosy-1.0-py3-none-any.whl"
    info = "nosy-1.0.dist-info"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: nosy\\nVersion: 1.0\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
`;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function environments(cache = folder) {
  const said: string[] = [];
  const env = { ...process.env, SVC_PYTHON: base, XDG_CACHE_HOME: cache };
  return { said, environments: createPythonEnvironments({ env, say: (text) => said.push(text) }) };
}

const probe = (python: string, code: string): string => execFileSync(python, ['-c', code], { encoding: 'utf8' }).trim();

describe('the Python of a task', () => {
  it('without dependencies is the one DAG files are compiled with', async () => {
    expect(await environments().environments.get([])).toBe(base);
  });

  it('with dependencies has them and what every task needs, and is made once for all who ask', async () => {
    const first = environments();
    const both = await Promise.all([first.environments.get([wheel]), first.environments.get([wheel])]);
    expect(new Set(both).size).toBe(1);
    expect(first.said).toHaveLength(1);
    const [python = ''] = both;
    expect(probe(python, 'import svc_probe, jinja2, pendulum; print(svc_probe.ANSWER)')).toBe('42');
    const later = environments();
    expect(await later.environments.get([wheel])).toBe(python);
    expect(later.said).toEqual([]);
    expect(readdirSync(join(folder, 'svc')).filter((name) => name.includes('building'))).toEqual([]);
  });

  it('tells which provider packages it has, by their own metadata', async () => {
    const { environments: made } = environments();
    const probes = {
      name: 'apache-airflow-providers-probe',
      version: '3.1',
      summary: 'Probes of all kinds',
      documentation_url: null,
    };
    expect(await made.providers([wheel])).toEqual([probes]);
    expect(await made.providers([])).toEqual([]);
    const foreign = join(folder, 'orchard_hooks-0.2-py3-none-any.whl');
    execFileSync(base, ['-c', WRITE_FOREIGN, foreign]);
    const both = await made.providers([wheel, foreign]);
    expect(both.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      probes,
      {
        name: 'orchard-hooks',
        version: '0.2',
        summary: '',
        documentation_url: 'https://example.org/docs',
        connection_types: [{ 'connection-type': 'orchard', 'hook-name': 'Orchard' }],
      },
    ]);
  });

  it('knows its provider packages from when it was made: a short task is over before Python has been asked', async () => {
    const python = await environments().environments.get([wheel]);
    const stamp = join(dirname(python), '..', 'complete.json');
    const whole = readFileSync(stamp, 'utf8');
    try {
      writeFileSync(stamp, whole.replace('Probes of all kinds', 'as noted'));
      expect(await environments().environments.providers([wheel])).toMatchObject([{ summary: 'as noted' }]);
      // As an earlier release left it.
      writeFileSync(stamp, JSON.stringify({ dependencies: [wheel] }));
      expect(await environments().environments.providers([wheel])).toMatchObject([{ summary: 'Probes of all kinds' }]);
    } finally {
      writeFileSync(stamp, whole);
    }
  });

  it('tells the provider packages of the interpreter that tasks without dependencies have', async () => {
    const python = await environments().environments.get([wheel]);
    const named = createPythonEnvironments({ env: { ...process.env, SVC_PYTHON: python }, say: () => {} });
    expect(await named.providers([])).toMatchObject([{ name: 'apache-airflow-providers-probe' }]);
  });

  /** Nothing can be fetched, so whatever is met is met by what we bring. */
  async function offline(installer: string) {
    const env = {
      ...process.env,
      SVC_PYTHON: base,
      XDG_CACHE_HOME: join(folder, installer),
      PIP_NO_INDEX: '1',
      UV_NO_INDEX: '1',
      UV_OFFLINE: '1',
      PATH: installer === 'uv' ? `${await uvFolder()}:${process.env['PATH']}` : process.env['PATH'],
    };
    const said: string[] = [];
    const progress: string[] = [];
    const made = createPythonEnvironments({
      env,
      say: (text) => said.push(text),
      onProgress: (text) => progress.push(text),
    });
    return { made, said, progress };
  }

  it.each(['pip', 'uv'])('has nothing of Airflow itself, though a provider asks for it (%s)', async (installer) => {
    const provider = join(folder, 'needs_airflow-1.0-py3-none-any.whl');
    execFileSync(base, ['-c', WRITE_DEPENDENT, provider]);
    const { made, said, progress } = await offline(installer);
    const python = await made.get([provider, '-c needs-airflow==1.0']);
    expect(said[0]?.endsWith(', with uv')).toBe(installer === 'uv');
    expect(progress.length).toBeGreaterThan(0);
    const versions = probe(
      python,
      'from importlib.metadata import version; print(*(version(n) for n in ("needs-airflow", "apache-airflow-task-sdk", "apache-airflow-providers-standard")))',
    );
    expect(versions).toBe('1.0 1.2.2+svc 1.99.0+svc');
    expect(probe(python, 'import importlib.util; print(importlib.util.find_spec("airflow"))')).toBe('None');
    // A name of its own in what is said, and what is wrong with it.
    await expect(made.get([provider, 'no-such-package-of-ours>=2'])).rejects.toThrow(
      /^installing no-such-package-of-ours>=2 failed: .+/,
    );
  });

  it.each(['pip', 'uv'])(
    'with hashes has exactly what is listed, as it was when it was listed (%s)',
    async (installer) => {
      const { made } = await offline(installer);
      const hash = createHash('sha256').update(readFileSync(wheel)).digest('hex');
      const probes = `apache-airflow-providers-probe @ file://${wheel}`;
      const python = await made.get([`${probes} --hash=sha256:${hash}`]);
      // Compiled when it is installed: the first task that imports it need not, and may have no right to.
      const isCompiled =
        'from importlib.util import find_spec as f; import os; print(os.path.exists(f("svc_probe").cached))';
      expect(probe(python, isCompiled)).toBe('True');
      expect(probe(python, 'import svc_probe')).toBe('');
      await expect(made.get([`${probes} --hash=sha256:${'0'.repeat(64)}`])).rejects.toThrow('not what the hash');
    },
  );

  it.each(['pip', 'uv'])(
    'is made in the steps of an image, and without a package that cannot be built (%s)',
    async (installer) => {
      const places = [1, 2].map((version) => {
        const place = join(folder, `stepped-${version}.0-py3-none-any.whl`);
        execFileSync(base, ['-c', WRITE_STEPPED, place, String(version)]);
        return place;
      });
      const broken = join(folder, 'broken');
      mkdirSync(broken, { recursive: true });
      writeFileSync(join(broken, 'pyproject.toml'), NOSY_PROJECT.replace('nosy_build', 'broken_build'));
      writeFileSync(join(broken, 'broken_build.py'), BROKEN_BUILD);
      const { made } = await offline(installer);
      const list = [wheel, places[0] ?? '', `broken @ file://${broken}`, '--step --no-deps', places[1] ?? '', '--step'];
      const python = await made.get(list);
      expect(probe(python, 'import stepped, svc_probe; print(stepped.VERSION)')).toBe('2');
      expect(await made.leftOut(list)).toEqual([
        { entry: `broken @ file://${broken}`, why: expect.stringMatching(/cannot be built: .*pg_config.*libpq-dev/) },
      ]);
    },
  );

  it('shows code that packages run while they are installed nothing of the control plane', async () => {
    const source = join(folder, 'nosy');
    mkdirSync(source, { recursive: true });
    writeFileSync(join(source, 'pyproject.toml'), NOSY_PROJECT);
    writeFileSync(join(source, 'nosy_build.py'), NOSY_BUILD);
    const env = {
      ...process.env,
      SVC_PYTHON: base,
      XDG_CACHE_HOME: folder,
      SVC_AGENT_TOKEN: 'hush',
      NOSY_OUT: join(folder, 'seen'),
    };
    const made = createPythonEnvironments({ env, say: () => {} });
    await made.get([source]);
    const seen = readFileSync(join(folder, 'seen'), 'utf8');
    expect(seen).toContain('PATH');
    expect(seen).not.toContain('SVC_');
  });

  it('takes an entry that looks like an option for the name of a package', async () => {
    const entry = '--target=/tmp/svc-must-not-exist';
    await expect(environments().environments.get([entry])).rejects.toThrow('installing');
  });

  it('that cannot be made says why, and is tried again by the next', async () => {
    const { environments: found, said } = environments();
    const missing = join(folder, 'missing-1.0-py3-none-any.whl');
    for (let time = 1; time <= 2; time += 1) {
      await expect(found.get([missing])).rejects.toMatchObject({ output: expect.stringContaining('missing') });
      expect(said).toHaveLength(time);
    }
    // Below a file no folder can be made.
    await expect(environments(wheel).environments.get([wheel])).rejects.toThrow(wheel);
  });
});
