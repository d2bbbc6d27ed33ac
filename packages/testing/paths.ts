import { join, resolve } from 'node:path';

/** Of the checkout. */
export const ROOT = resolve(import.meta.dirname, '..', '..');
/**
 * What is fetched or built once and kept between runs. Its folders are named after what they are made of, or say so inside:
 * clones may share them.
 */
export const CACHE = process.env['TEST_CACHE'] || join(ROOT, '.cache');
/** Kept for whoever wants to look at what a person would have seen. */
export const SCREENSHOTS = join(ROOT, 'test-output', 'ui');
