/** `update_mask` as in Airflow: if given, a PATCH writes only the fields that it names. */
import { Type } from 'typebox';
import { ApiError } from './errors.ts';
import { ShownAs } from './schemas.ts';

export const UpdateMaskQuery = (fields: readonly string[]) => ({
  update_mask: Type.Optional(
    Type.Array(ShownAs(Type.String(), { type: 'string', enum: [...fields, ''] }), {
      maxItems: 100,
      description: `Write only these of the fields sent; repeatable. One of: ${fields.join(', ')}`,
    }),
  ),
});

/** Removes fields that the mask does not name from the body. A removed field keeps its stored value. */
export function applyUpdateMask<Body extends object>(
  body: Body,
  mask: readonly string[] | null | undefined,
  fields: readonly string[],
): Partial<Body> {
  const names = (mask ?? []).filter((name) => name !== ''); // the web UI sends an empty name for "none"
  const unknown = names.find((name) => !fields.includes(name));
  if (unknown !== undefined) {
    throw new ApiError(
      'invalid_request',
      `update_mask: there is no field "${unknown.slice(0, 100)}": use ${fields.join(', ')}`,
    );
  }
  if (names.length === 0) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name))) as Partial<Body>;
}
