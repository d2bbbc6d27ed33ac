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

async function listen(checkEveryMs: number): Promise<void> {
  heard = 0;
  notifications = createNotifications({
    url: line.url(postgresUrl()),
    send: async () => {},
    onNotified: () => void (heard += 1),
    checkEveryMs,
    answerWithinMs: 500,
  });
  notifications.listen();
  await eventually(() => heard === 1); // when it began to listen
}

const notify = () => queryDatabase(postgresUrl(), "select pg_notify('svc_wake', 'somebody else')");

it('a connection that went silent is replaced, and what was sent meanwhile is looked for', async () => {
  await listen(100);
  await notify();
  await eventually(() => heard === 2);
  expect(line.silence()).toBe(1);
  await eventually(() => heard === 3); // it listens again
  await notify();
  await eventually(() => heard === 4);
});

it('a database that does not even greet is asked again until it does', async () => {
  await listen(100);
  line.silenceNew(true);
  line.silence();
  await eventually(() => line.opened() > 2);
  line.silenceNew(false);
  await eventually(() => heard === 2);
});

it('a silent connection does not hold up the end', async () => {
  await listen(60_000); // nobody asks whether it is there before the end
  expect(line.silence()).toBe(1);
  await notifications.stop();
});
