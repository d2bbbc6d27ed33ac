/** Who listens for notifications says nothing by itself: that its connection was lost shows only when somebody asks. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { openBadLine } from '@svc/testing/postgres/bad-line.ts';
import type { BadLine } from '@svc/testing/postgres/bad-line.ts';
import { postgresUrl } from '@svc/testing/postgres/postgres-url.ts';
import { queryDatabase } from '@svc/testing/postgres/query-database.ts';
import { failOnStrayRejections } from '@svc/testing/vitest/no-stray-errors.ts';
import { createNotifications } from './notifications.ts';
import type { Notifications } from './notifications.ts';

let line: BadLine;
let notifications: Notifications;
let heard = 0;

failOnStrayRejections();
beforeEach(async () => {
  line = await openBadLine(Number(new URL(postgresUrl()).port));
});
afterEach(async () => {
  await notifications.stop();
  line.close();
});

async function listen(checkEveryMs: number, answerWithinMs = 2_000): Promise<void> {
  heard = 0;
  notifications = createNotifications({
    url: line.url(postgresUrl()),
    send: async () => {},
    onNotified: () => void (heard += 1),
    checkEveryMs,
    answerWithinMs,
  });
  notifications.listen();
  await eventually(() => heard > 0); // when it began to listen
}

/** Once at least: a check that a busy machine answers late is the end of a connection, too. */
async function hearsOf(cause: () => unknown): Promise<void> {
  const before = heard;
  await cause();
  await eventually(() => heard > before);
}

const notify = () => queryDatabase(postgresUrl(), "select pg_notify('svc_wake', 'somebody else')");

it('a connection that went silent is replaced, and what was sent meanwhile is looked for', async () => {
  await listen(100);
  await hearsOf(notify);
  await hearsOf(() => eventually(() => line.silence() > 0)); // it listens again
  await hearsOf(notify);
});

it('a database that does not even greet is asked again until it does', async () => {
  await listen(100, 500);
  line.silenceNew(true);
  line.silence();
  const before = heard;
  const opened = line.opened();
  await eventually(() => line.opened() > opened + 1);
  expect(heard).toBe(before);
  await hearsOf(() => line.silenceNew(false));
});

it('a silent connection does not hold up the end', async () => {
  await listen(60_000); // nobody asks whether it is there before the end
  expect(line.silence()).toBe(1);
  await notifications.stop();
});
