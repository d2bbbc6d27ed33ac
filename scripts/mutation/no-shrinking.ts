/** Set-up of mutation runs: that a property fails is enough, its smallest counterexample is nobody's question. */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
