import { describe, expect, it } from 'vitest';
import { checkWordOf } from './check-word.ts';
import { personOf } from './policy.ts';
import { SsoRefusal } from './refusals.ts';
import { createSeal } from './seal.ts';
import type { OidcSettings } from './settings.ts';

const SETTINGS: OidcSettings = {
  issuer: 'https://login.example.com',
  clientId: 'svc',
  clientSecret: '',
  redirectUrl: 'https://flows.example.com/api/v2/auth/oidc/callback',
  scopes: ['openid'],
  groupsClaim: 'groups',
  roleMappings: { ops: 'operator', admins: 'admin', more: 'operator' },
  defaultRole: '',
  tenantClaim: '',
  tenantClaims: {},
  allowedEmailDomains: [],
  breakGlassEmails: ['Emergency@example.com'],
  jitProvisioning: false,
  clockSkewSeconds: 60,
};
const CLAIMS = { sub: 's', email: 'A@Example.com', email_verified: true, groups: ['ops'] };

const person = (claims: Record<string, unknown> = {}, settings: Partial<OidcSettings> = {}) =>
  personOf({ ...CLAIMS, ...claims }, { ...SETTINGS, ...settings });
const outcome = (...input: Parameters<typeof person>): unknown => {
  try {
    return person(...input);
  } catch (error) {
    return error instanceof SsoRefusal ? error.reason : error;
  }
};

describe('roles', () => {
  it.each<[string, unknown, string[]]>([
    ['a mapped group', ['ops'], ['operator']],
    ['two, each role once', ['ops', 'more', 'admins'], ['admin', 'operator']],
    ['one that is not mapped', ['cooks'], []],
    ['one as a text', 'ops', ['operator']],
    ['none', undefined, []],
    ['names that every object has', ['constructor', '__proto__', 'toString', 'hasOwnProperty'], []],
    ['a group of another case', ['OPS'], []],
    ['things that are no groups', [1, null, { ops: true }, ['ops']], []],
    ['an object', { ops: 'ops' }, []],
  ])('auth.oidc.role_mappings, default-deny: %s', (_what, groups, roles) => {
    expect(person({ groups }).roles).toEqual(roles);
  });

  it('auth.oidc.default_role: is for those whom no group gives one, and is not added to others', () => {
    expect(person({ groups: ['cooks'] }, { defaultRole: 'viewer' }).roles).toEqual(['viewer']);
    expect(person({ groups: ['ops'] }, { defaultRole: 'viewer' }).roles).toEqual(['operator']);
  });

  it('auth.oidc.groups_claim: are read from the claim that is named, to the letter', () => {
    const settings = { groupsClaim: 'https://example.com/roles' };
    expect(person({ 'https://example.com/roles': ['admins'] }, settings).roles).toEqual(['admin']);
  });

  it('groups that the provider left out because they are too many are no reason to take roles away', () => {
    const left = { groups: undefined, _claim_names: { groups: 'src1' } };
    expect(outcome(left, { defaultRole: 'viewer' })).toBe('groups_left_out');
    expect(outcome({ ...left, _claim_names: { other: 'src1' } }, { defaultRole: 'viewer' })).toMatchObject({
      roles: ['viewer'],
    });
  });
});

describe('the tenant', () => {
  const settings = { tenantClaim: 'tid', tenantClaims: { 't-1': 'acme' } } as const;

  it.each([
    ['a mapped value', { tid: 't-1' }, { tenant: 'acme' }],
    ['one that is not mapped', { tid: 't-2' }, 'tenant_not_mapped'],
    ['the name of a tenant instead', { tid: 'acme' }, 'tenant_not_mapped'],
    ['none', {}, 'tenant_claim_missing'],
    ['an empty one', { tid: '' }, 'tenant_claim_missing'],
    ['several', { tid: ['t-1'] }, 'tenant_claim_missing'],
    ['what every object has', { tid: 'constructor' }, 'tenant_not_mapped'],
    ['the other claim', { hd: 't-1' }, 'tenant_claim_missing'],
  ])('auth.oidc.tenant_claims: %s', (_what, claims, expected) => {
    const found = outcome(claims, settings);
    expect(typeof found === 'string' ? found : { tenant: (found as { tenant: string }).tenant }).toEqual(expected);
  });

  it('auth.oidc.tenant_claim: hd is Google’s word for it; without a claim it is the default one', () => {
    expect(person({ hd: 'example.com' }, { tenantClaim: 'hd', tenantClaims: { 'example.com': 'acme' } }).tenant).toBe(
      'acme',
    );
    expect(person({ tid: 't-1' }).tenant).toBeUndefined();
  });
});

describe('the e-mail address', () => {
  it.each([
    [{ email_verified: true }, true],
    [{ email_verified: 'true' }, true],
    [{ email_verified: false }, false],
    [{ email_verified: 'false' }, false],
    [{ email_verified: undefined }, false],
    [{ email_verified: {} }, false],
    [{ email_verified: undefined, xms_edov: true }, true],
    [{ email_verified: undefined, xms_edov: '0' }, false],
  ])('is verified when the provider says so: %j', (claims, isVerified) => {
    expect(person(claims).isEmailVerified).toBe(isVerified);
  });

  it.each([
    'nobody',
    'a@b@c',
    'a b@example.com',
    'a\u200b@example.com',
    'a@exam\u00adple.com',
    '\u212aim@example.com', // its lower case is kim@example.com
    '\u0130@example.com',
    `${'x'.repeat(400)}@example.com`,
    '',
    42,
    ['a@example.com'],
  ])('%j is none', (email) => {
    expect(person({ email }).email).toBeUndefined();
  });

  it.each([
    ['of a listed domain', { email: 'a@EXAMPLE.com' }, 'fine'],
    ['of another', { email: 'a@example.org' }, 'email_domain'],
    ['of a domain below', { email: 'a@sub.example.com' }, 'email_domain'],
    ['of one that ends alike', { email: 'a@notexample.com' }, 'email_domain'],
    ['unverified', { email_verified: false }, 'email_unverified'],
    ['missing', { email: undefined }, 'email_missing'],
  ])('auth.oidc.allowed_email_domains: %s', (_what, claims, expected) => {
    const found = outcome(claims, { allowedEmailDomains: ['Example.com'] });
    expect(typeof found === 'string' ? found : 'fine').toBe(expected);
  });

  it('of the emergency access cannot come by single sign-on, whatever the provider says of it', () => {
    expect(outcome({ email: 'emergency@EXAMPLE.com', groups: ['admins'] })).toBe('break_glass_user');
    expect(outcome({ email: 'emergency@EXAMPLE.com', email_verified: false })).toBe('break_glass_user');
  });
});

describe('what is sealed', () => {
  it('opens for its purpose, with the same secret, while it lives, unchanged; and not otherwise', async () => {
    const seal = createSeal<{ a: number }>({ secret: 'one', purpose: 'p' });
    const sealed = await seal.close({ a: 1 }, 60);
    expect(await seal.open(sealed)).toEqual({ a: 1 });
    expect(sealed).not.toContain(Buffer.from('"a":1').toString('base64url').slice(0, 4));
    for (const other of [createSeal({ secret: 'two', purpose: 'p' }), createSeal({ secret: 'one', purpose: 'q' })]) {
      expect(await other.open(sealed)).toBeUndefined();
    }
    expect(await seal.open(`${sealed.slice(0, -2)}xx`)).toBeUndefined();
    expect(await seal.open('')).toBeUndefined();
    expect(await seal.open(await seal.close({ a: 1 }, -1))).toBeUndefined();
  });
});

it('the word that a person compares is short, and another for every sign-in', () => {
  const words = new Set(Array.from({ length: 200 }, (_, index) => checkWordOf(`challenge ${index}`)));
  expect(words.size).toBe(200);
  for (const word of words) expect(word).toMatch(/^[0-9A-V]{4}-[0-9A-V]{4}$/);
});
