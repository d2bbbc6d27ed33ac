import { expect, it } from 'vitest';
import { renderSpecReference } from './reference.ts';
import { CompiledSpec } from './schema.ts';
import { TaskSpec } from './schema-task.ts';

it('the page of the compiled spec tells every field, so that no new one goes undocumented', () => {
  const page = renderSpecReference();
  for (const name of Object.keys(CompiledSpec.properties)) expect(page).toContain(`| \`${name}\``);
  for (const name of Object.keys(TaskSpec.properties)) expect(page).toContain(`| \`tasks[].${name}\``);
  expect(page).toContain('| `tasks[].policy.retries` | integer | tries after the first |');
  const undescribed = page.split('\n').filter((line) => /^\| `[^`]+`\?? \| .* \|  \|$/.test(line));
  expect(undescribed).toEqual([]);
});
