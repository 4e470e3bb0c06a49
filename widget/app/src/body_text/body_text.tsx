// A message's text with its addresses as links that tell the other site nothing.

import { useMemo } from 'preact/hooks';
import { piecesOf } from './links.ts';

/** `inert`: from a stranger; addresses are shown but lead nowhere. */
export function BodyText({ body, inert }: { body: string; inert: boolean }) {
  const pieces = useMemo(() => piecesOf(body), [body]);
  return (
    <span class="body-text">
      {pieces.map((piece, i) =>
        piece.kind === 'link' && !inert ? (
          <a key={i} href={piece.href} target="_blank" rel="noopener noreferrer nofollow ugc">
            {piece.text}
          </a>
        ) : (
          piece.text
        ),
      )}
    </span>
  );
}
