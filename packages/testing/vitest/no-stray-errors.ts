import { afterAll, afterEach, beforeAll } from 'vitest';

/** Fails the test during which a rejection went unhandled: in production it would have ended the process. */
export function failOnStrayRejections(): void {
  let stray: unknown[] = [];
  const remember = (error: unknown): void => void stray.push(error);
  beforeAll(() => void process.on('unhandledRejection', remember));
  afterAll(() => void process.off('unhandledRejection', remember));
  afterEach(() => {
    const found = stray;
    stray = [];
    if (found.length > 0) throw new AggregateError(found, `${found.length} rejection(s) nobody handled`);
  });
}
