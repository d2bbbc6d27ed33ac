// Before `npm pack` and `npm publish` in the root: what they would pack is the repository as it lies here, with tests and
// TypeScript, which nobody can run. npm starts this script before `npm run pack` as well, which makes the real packages.

if (['pack', 'publish'].includes(process.env['npm_command'] ?? '')) {
  console.error('This would pack the raw repository. The packages of svc are made in dist/ by: npm run pack');
  process.exitCode = 1;
}
