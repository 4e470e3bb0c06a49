// Errors of moderation, as texts.

import { RequestError } from '@kith/client';
import type { Wording } from '../../wording/wording.ts';
import type { SafetyWords } from './words.en.ts';

export function failureOf(error: unknown, words: Wording & SafetyWords): string {
  switch (error instanceof RequestError ? error.code : undefined) {
    case 'too_many_reports':
      return words.tooManyReports;
    case 'not_allowed':
      return words.notAllowedHere;
    case 'rate_limited':
      return words.slowDown;
    default:
      return words.somethingFailed;
  }
}
