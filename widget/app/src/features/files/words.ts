// Texts about files: sizes, and reasons why something cannot be sent.

import type { Messages } from 'virtual:messages';
import type { Code } from '@kith/client';
import { useWording } from '../../app_context.tsx';
import { wordsOf } from '../../wording/late_words.ts';
import type { Wording } from '../../wording/wording.ts';

export type FileWords = Messages['files'] & { size(bytes: number): string; percent(share: number): string };

export function fileWords(wording: Wording): FileWords {
  const unit = (of: string, digits: number) =>
    new Intl.NumberFormat(wording.language, {
      style: 'unit',
      unit: of,
      unitDisplay: 'short',
      maximumFractionDigits: digits,
    });
  const percent = new Intl.NumberFormat(wording.language, { style: 'percent' });
  return {
    ...wordsOf(wording, 'files'),
    percent: share => percent.format(share),
    size(bytes) {
      if (bytes < 1_000) return unit('byte', 0).format(bytes);
      if (bytes < 1_000_000) return unit('kilobyte', 0).format(bytes / 1_000);
      if (bytes < 1_000_000_000) return unit('megabyte', 1).format(bytes / 1_000_000);
      return unit('gigabyte', 1).format(bytes / 1_000_000_000);
    },
  };
}

export function useFileWords(): FileWords {
  return fileWords(useWording());
}

export function whyNot(code: Code, words: FileWords, most: number): string {
  const { errors } = words;
  if (code === 'file_too_large') return errors.file_too_large(words.size(most));
  return Object.hasOwn(errors, code) ? (errors[code as 'other'] as string) : errors.other;
}

/** The file extension in capitals as a label. Empty if it has more than four characters. */
export function ending(name: string): string {
  const last = name.split('.').pop() ?? '';
  return last === name || last.length > 4 ? '' : last.toUpperCase();
}
