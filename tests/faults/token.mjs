// Tokens of the site, signed as docs/embed.md describes it.

import { createHmac } from 'node:crypto';

/** Longer than a run. A clock may jump further ahead. */
export const LIFE_S = 86_400;

export function tokenOf(user, secret) {
  const part = value => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: user, name: user, exp: Math.floor(Date.now() / 1_000) + LIFE_S };
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
