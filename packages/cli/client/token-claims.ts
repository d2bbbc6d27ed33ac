/**
 * Reads the claims of a token without verifying them. Only the server can verify a token, and it does so at every
 * request.
 */
export type TokenClaims = {
  readonly email: string | undefined;
  readonly tenant: string | undefined;
  readonly roles: readonly string[];
  readonly issuedAt: number | undefined;
  /** In seconds since the epoch. */
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

/** True in the last quarter of a token's lifetime: late enough to be rare, early enough to be safe. */
export function isDueForRenewal({ issuedAt, expiresAt }: TokenClaims, nowSeconds: number): boolean {
  if (issuedAt === undefined || expiresAt === undefined || expiresAt <= nowSeconds) return false;
  return expiresAt - nowSeconds < (expiresAt - issuedAt) / 4;
}
