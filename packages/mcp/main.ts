import { keepCompiledCode } from '@svc/spec/compiled-code.ts';

keepCompiledCode();
await import('./program.ts');
