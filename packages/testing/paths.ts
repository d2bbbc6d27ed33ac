import { join, resolve } from 'node:path';

/** Of the checkout. */
export const ROOT = resolve(import.meta.dirname, '..', '..');
/** What is fetched or built once and kept between runs. */
export const CACHE = join(ROOT, '.cache');
/** Kept for whoever wants to look at what a person would have seen. */
export const SCREENSHOTS = join(ROOT, 'test-output', 'ui');
