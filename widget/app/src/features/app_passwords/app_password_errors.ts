// The text for a refused command about app passwords.

import type { Messages } from 'virtual:messages';
import { RequestError } from '@kith/client';

export function failureOf(error: unknown, { refused }: Messages['appPasswords']): string {
  const code = error instanceof RequestError ? error.code : 'other';
  const texts: Record<string, string> = refused;
  return texts[code] ?? refused.other;
}
