// Starts the bundle with the code that V8 had compiled by the end of an attempt (rehearsal.js), kept beside it when the image
// is built. Node's own compile cache keeps what is compiled when a file is loaded, and that is a third of what an attempt
// runs; what it compiles on the way is compiled anew each time. Processor time of an agent from its start to the end of a task that does
// nothing: 240 and 170 ms. Only a script's code can be kept so, not a module's: hence CommonJS.
'use strict';
const { existsSync, readFileSync } = require('node:fs');
const { Module } = require('node:module');
const { join } = require('node:path');
const { Script, constants } = require('node:vm');

// Python first: it takes as long as all that follows.
if (process.argv[2] === 'run') require('./first-process.cjs').startFirstProcess(process.env);

const file = join(__dirname, 'main.cjs');
const kept = join(__dirname, 'main.cache');
const script = new Script(Module.wrap(readFileSync(file, 'utf8')), {
  filename: file,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  // Of another Node, or with options that change code, it is of no use, and all works without.
  ...(existsSync(kept) && { cachedData: readFileSync(kept) }),
});
const main = { exports: {} };
script.runInThisContext().call(main.exports, main.exports, require, main, file, __dirname);

/** For keep-code.cjs. */
module.exports = { script, kept };
