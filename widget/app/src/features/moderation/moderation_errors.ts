// The texts for errors of moderation requests.

import type { Messages } from 'virtual:messages';
import { RequestError } from '@kith/client';
import type { Wording } from '../../wording/wording.ts';

export function failureOf(error: unknown, words: Wording & Messages['moderation']): string {
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
