/**
 * What random tests start from. The same in every run, so that a change is judged by what it changes and not by luck;
 * `npm run bench -- properties` and `-- chaos` search with others, and print them.
 */
export const SEED = Number(process.env['SVC_TEST_SEED'] ?? 20_261_115);
