import { describe, expect, it } from 'vitest';
import { keyReads } from './key-reads.ts';

const PATHS = [
  ['role'],
  ['server', 'httpAddr'],
  ['server', 'cors', 'origins'],
  ['server', 'cors', 'ages'],
  ['auth', 'jwt', 'secret'],
  ['auth', 'jwt', 'ttl'],
];
const reads = (source: string): string[] => [...keyReads(source, PATHS)].toSorted();

describe('reads of configuration keys', () => {
  it('are seen in chains, over line breaks and through optional parts', () => {
    expect(reads('f(config.server.httpAddr, config.role)')).toEqual(['role', 'server.httpAddr']);
    expect(reads('config\n  .auth?.jwt\n  .secret.length')).toEqual(['auth.jwt.secret']);
    expect(reads('const url = `x ${config.server.httpAddr} y`;')).toEqual(['server.httpAddr']);
  });

  it('are seen behind names that a file gives to parts of it', () => {
    expect(reads('const { server, auth: { jwt } } = config;\nf(server.httpAddr, jwt.ttl)')).toEqual([
      'auth.jwt.ttl',
      'server.httpAddr',
    ]);
    expect(reads('const { jwt: tokens } = config.auth;\nconst { ttl = 5 } = tokens;')).toEqual(['auth.jwt.ttl']);
    expect(reads('const cors = config.server.cors;\ncors.ages')).toEqual(['server.cors.ages']);
    expect(reads('function f({ server }: Config) { return server.httpAddr; }')).toEqual(['server.httpAddr']);
    expect(reads("f(({ auth: { jwt } }: Pick<Config, 'auth'>) => jwt.ttl)")).toEqual(['auth.jwt.ttl']);
    expect(reads('const { secret }: { secret: string } = config.auth.jwt;')).toEqual(['auth.jwt.secret']);
  });

  it('are all that is below a part which is handed on as a whole', () => {
    expect(reads('f({ ...config.auth.jwt })')).toEqual(['auth.jwt.secret', 'auth.jwt.ttl']);
    expect(reads('const { server } = config;\nf(server.cors)')).toEqual(['server.cors.ages', 'server.cors.origins']);
  });

  it('are not seen in words, in other objects, or in names that only look alike', () => {
    expect(reads("// config.role\n/* config.role */ f('config.role', `config.role`)")).toEqual([]);
    expect(reads('options.server.httpAddr; x.config.role; myconfig.role; config.rolex')).toEqual([]);
    expect(reads('const { server } = config;\nf(server)')).toEqual([]);
    expect(reads('f({ config, server: 1 })')).toEqual([]);
  });
});
