/** True in `npm run test:nightly`, which has hours: tests that walk or search then do all of it. */
export const IS_NIGHTLY = process.env['NIGHTLY'] === '1';
