// The preview of a link, shown below the message's text.

import type { Preview } from '@kith/client';
import { useState } from 'preact/hooks';
import { Picture } from '../files/picture.tsx';

export function PreviewCard({ preview }: { preview: Preview }) {
  const { url, title, description, site, picture } = preview;
  const [lost, setLost] = useState(false);
  return (
    <a class="preview" href={url} target="_blank" rel="noopener noreferrer nofollow ugc">
      {picture && !lost && (
        <span class="preview-picture" aria-hidden="true">
          <Picture file={picture} label={title} onLost={() => setLost(true)} />
        </span>
      )}
      <span class="preview-words" dir="auto">
        <span class="preview-site clip">{site || hostOf(url)}</span> <b class="preview-title">{title}</b>{' '}
        {description && <span class="preview-text">{description}</span>}
      </span>
    </a>
  );
}

/** The host of a page without `www.`, shown if the preview contains no name of the site. */
export function hostOf(url: string): string {
  try {
    return new URL(url).hostname.replace(/^www\./, '');
  } catch {
    return '';
  }
}
