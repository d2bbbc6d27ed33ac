import { Type } from 'typebox';
import type { IssuedToken } from '../../auth/sessions.ts';

export const TokenResponse = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.String({ description: 'Always `Bearer`' }),
    expires_in: Type.Integer({ description: 'Seconds' }),
  },
  { title: 'TokenResponse' },
);

export const tokenBody = (token: IssuedToken) => ({
  access_token: token.accessToken,
  token_type: 'Bearer',
  expires_in: token.expiresInSeconds,
});
