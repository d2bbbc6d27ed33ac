/** The version of the web UI under test, and what the two versions call the same control. */
import { CONFIG_KEYS } from '@svc/server/config/keys.ts';
import { UI_VERSIONS } from '@svc/web/bundle.ts';
import type { UiVersion } from '@svc/web/bundle.ts';
import type { Locator } from 'playwright-core';
import type { OpenUi } from './open-ui.ts';

/** `SVC_TEST_UI_VERSION` names another version than the one that is served by default. */
export const UI_VERSION: UiVersion = versionOf(
  process.env['SVC_TEST_UI_VERSION'] ?? CONFIG_KEYS['ui.airflow_version'].default,
);

function versionOf(name: string): UiVersion {
  const version = UI_VERSIONS.find((known) => known === name);
  if (version === undefined) throw new Error(`SVC_TEST_UI_VERSION: there is no web UI of Airflow ${name}`);
  return version;
}

/** The environment of a lite that serves this version. */
export const envOf = (version: UiVersion): Record<string, string> => ({ SVC_UI_AIRFLOW_VERSION: version });

/** Accessible names of buttons. */
export const CLEAR = /^(?:Clear (?:Dag Run|Task Instance)|Press shift\+c to clear)$/;
export const NOTE = /^(?:Add a note|Edit note)$/;

/** Fills a date and a time (`2026-01-03T00:00`) into the field of a form. Since 3.3 they are two fields of a popover. */
export async function fillMoment(
  { page }: OpenUi,
  { form, label, at }: { form: Locator; label: string; at: string },
): Promise<void> {
  if (UI_VERSION === '3.2.2') return form.getByLabel(label, { exact: true }).fill(at);
  const [date = '', time = ''] = at.split('T');
  await form.getByRole('group').filter({ hasText: label }).getByTestId('datetime-input').click();
  const popover = page.locator('[data-scope=popover][data-part=content][data-state=open]');
  await popover.getByPlaceholder('YYYY/MM/DD').fill(date.replaceAll('-', '/'));
  await popover.getByPlaceholder('HH:mm').fill(time);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await popover.waitFor({ state: 'detached' });
}
