/** Follows a sync from the request to its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bundle } from '@svc/client/wire-types.ts';
import { CliError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printable } from '../output/text.ts';

const LOOK_EVERY_MS = 250;
/** A scheduler looks more often than that. */
const BEGINS_WITHIN_MS = 60_000;

/** Returns the bundle when a sync has answered the request of `asked`. Progress goes to standard error. */
export async function followSync(
  context: CliContext,
  client: Client,
  asked: Bundle,
  { json }: { json?: true },
): Promise<Bundle> {
  const begin = Date.now();
  let shown = '';
  let hasBegun = false;
  for (;;) {
    const bundle = await client.get('/api/v2/bundles/{bundle}', { path: { bundle: asked.name } });
    const { answered, state, text } = bundle.sync;
    if (answered >= asked.sync.requested) return bundle;
    hasBegun ||= state === 'running';
    if (!hasBegun && Date.now() - begin > BEGINS_WITHIN_MS) {
      throw new CliError(`no process has begun to sync ${asked.name}`, {
        hint: 'a scheduler with bundles.executor=local does that: "svc config" on its host shows the setting',
      });
    }
    if (state === 'running' && text !== shown && !json) context.stderr.write(`${printable(text)}…\n`);
    shown = text;
    await sleep(LOOK_EVERY_MS);
  }
}

/** A refused commit is exit code 1, with each problem. */
export function printEnd(context: CliContext, bundle: Bundle, { json }: { json?: true }): void {
  const { state, text, problems } = bundle.sync;
  if (json) printJson(context, bundle);
  for (const { file, line, message } of json ? [] : problems) {
    const place = file === '' ? '' : `${file}${line === null ? '' : `:${line}`}: `;
    context.stderr.write(`${printable(place + message)}\n`);
  }
  if (state === 'refused' || state === 'failed') throw new CliError(`${bundle.name}: ${text}`);
  if (!json) context.stdout.write(`${bundle.name}: ${printable(text)}\n`);
}
