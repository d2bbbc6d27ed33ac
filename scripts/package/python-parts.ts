/** The packages of python/requirements.txt, for the bill of materials. The file has versions, and no licences. */
import { componentOf } from './bill-of-materials.ts';
import type { Part } from './bill-of-materials.ts';

/** As their metadata says, in the words of SPDX. */
const LICENCES: Readonly<Record<string, string>> = {
  dill: 'BSD-3-Clause',
  jinja2: 'BSD-3-Clause',
  pendulum: 'MIT',
  markupsafe: 'BSD-3-Clause',
  'python-dateutil': 'Apache-2.0 OR BSD-3-Clause',
  tzdata: 'Apache-2.0',
  six: 'MIT',
};

export function pythonParts(requirements: string): { direct: string[]; parts: Part[] } {
  const lines = requirements.split('\n').filter((line) => /^[a-z]/i.test(line));
  const parts = lines.map((line): Part => {
    const [, name = '', version = ''] = /^([\w.-]+)==([\w.]+)/.exec(line) ?? [];
    if (version === '') throw new Error(`python/requirements.txt: ${line} is not pinned`);
    const license = LICENCES[name];
    if (license === undefined) throw new Error(`python/requirements.txt: write down the licence of ${name}`);
    const scope = line.includes(';') ? 'optional' : 'required';
    return { component: componentOf({ name, version, license, ecosystem: 'pypi', scope }), dependsOn: [] };
  });
  return { direct: parts.map(({ component }) => component['bom-ref']), parts };
}
