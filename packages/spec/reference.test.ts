import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderFailureCauses } from './failure-causes.ts';
import { renderPythonMaskingRules } from './masking/rules.ts';
import { renderProjectReference } from './project/reference.ts';
import { renderSpecReference } from './reference.ts';
import { CompiledSpec } from './schema.ts';
import { TaskSpec } from './schema-task.ts';
import { renderPythonModule } from './sensitive-names.ts';

it('the page of the compiled spec tells every field, so that no new one goes undocumented', () => {
  const page = renderSpecReference();
  for (const name of Object.keys(CompiledSpec.properties)) expect(page).toContain(`| \`${name}\``);
  for (const name of Object.keys(TaskSpec.properties)) expect(page).toContain(`| \`tasks[].${name}\``);
  expect(page).toContain('| `tasks[].policy.retries` | integer | tries after the first |');
  const undescribed = page.split('\n').filter((line) => /^\| `[^`]+`\?? \| .* \|  \|$/.test(line));
  expect(undescribed).toEqual([]);
});

it.each([
  ['docs/svc-yaml.md', renderProjectReference],
  ['docs/compiled-spec.md', renderSpecReference],
  ['docs/failure-causes.md', renderFailureCauses],
  ['python/svc_runtime/run/sensitive_names.py', renderPythonModule],
  ['python/svc_runtime/run/masking_rules.py', renderPythonMaskingRules],
])('%s says what the code says: run npm run docs', (path, render) => {
  expect(readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8')).toBe(render());
});
