/** A person's picture or coloured initials. Presence is a shape with a text. */

import type { KnownPerson, Presence } from '@kith/client';
import { useState } from 'preact/hooks';
import { useClient, useWording } from '../../app_context.tsx';
import { hueOf, initialsOf } from './hue.ts';

interface Props {
  person: KnownPerson;
  size?: 'small' | 'medium' | 'large';
  /** Undefined: no presence is shown. */
  presence?: Presence | undefined;
  /** The avatar of a room. It is not round, to distinguish it from a person's. */
  room?: boolean;
}

export function Avatar({ person, size = 'medium', presence, room = false }: Props) {
  const [brokenUrl, setBrokenUrl] = useState('');
  const { server } = useClient();
  const url = safeImage(person.picture ? server + person.picture : person.avatar);
  return (
    <span
      class={`avatar avatar-${size} ${room ? 'avatar-room' : ''}`}
      style={{ '--hue': String(hueOf(room ? person.name : person.user)) }}
    >
      {url !== undefined && url !== brokenUrl ? (
        <img
          class="avatar-image"
          src={url}
          alt=""
          loading="lazy"
          decoding="async"
          referrerpolicy="no-referrer"
          onError={() => setBrokenUrl(url)}
        />
      ) : (
        <span class="avatar-initials" aria-hidden="true">
          {initialsOf(person.name) || '?'}
        </span>
      )}
      {presence !== undefined && <PresenceMark presence={presence} />}
    </span>
  );
}

/** Each state has its own shape, so that members can distinguish states without colour. */
export function PresenceMark({ presence }: { presence: Presence }) {
  const words = useWording();
  return (
    <span class={`presence presence-${presence}`} title={words[presence]}>
      <svg viewBox="0 0 12 12" aria-hidden="true">
        {presence === 'online' && <circle cx="6" cy="6" r="6" />}
        {presence === 'away' && <path d="M6 0a6 6 0 1 0 6 6A4.6 4.6 0 0 1 6 0Z" />}
        {presence === 'busy' && (
          <path fill-rule="evenodd" d="M6 0a6 6 0 1 0 0 12A6 6 0 0 0 6 0ZM2.8 5h6.4v2H2.8Z" />
        )}
        {presence === 'offline' && <circle class="presence-ring" cx="6" cy="6" r="4.75" />}
        {presence === 'unknown' && <circle class="presence-ring presence-dashed" cx="6" cy="6" r="4.75" />}
      </svg>
      <span class="hidden-text">{words[presence]}</span>
    </span>
  );
}

/** Allows only http and https. The site's token contains the address, which could be `javascript:` or `data:`. */
function safeImage(address: string | undefined): string | undefined {
  if (address === undefined || address === '') return undefined;
  try {
    const url = new URL(address, location.href);
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined;
  } catch {
    return undefined;
  }
}
