/** What a token says about itself. Nothing here is verified: only the server can, and it does at every request. */
export type TokenClaims = {
  readonly email: string | undefined;
  readonly tenant: string | undefined;
  readonly roles: readonly string[];
  readonly issuedAt: number | undefined;
  /** Seconds since the epoch. */
  readonly expiresAt: number | undefined;
};

export function readClaims(token: string): TokenClaims | undefined {
  try {
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as object;
    const { email, tenant, roles, iat, exp } = payload as Record<string, unknown>;
    return {
      email: typeof email === 'string' ? email : undefined,
      tenant: typeof tenant === 'string' ? tenant : undefined,
      roles: Array.isArray(roles) ? roles.map(String) : [],
      issuedAt: typeof iat === 'number' ? iat : undefined,
      expiresAt: typeof exp === 'number' ? exp : undefined,
    };
  } catch {
    return undefined;
  }
}

/** True in the last quarter of a token's life: late enough to be rare, early enough not to be too late. */
export function isDueForRenewal({ issuedAt, expiresAt }: TokenClaims, nowSeconds: number): boolean {
  if (issuedAt === undefined || expiresAt === undefined || expiresAt <= nowSeconds) return false;
  return expiresAt - nowSeconds < (expiresAt - issuedAt) / 4;
}
