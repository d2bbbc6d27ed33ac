// node keep-code.cjs START WORDS…
// In place of `node START WORDS…` while the image is built: keeps the code that was compiled by the end.
'use strict';
const { writeFileSync } = require('node:fs');
const { resolve } = require('node:path');

const [, , start] = process.argv;
process.argv.splice(1, 1);
const { script, kept } = require(resolve(start));

process.on('exit', () => writeFileSync(kept, script.createCachedData()));
