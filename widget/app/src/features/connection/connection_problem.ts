// Decides which connection problem is shown. The banner itself is loaded lazily.

import type { Status } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAppContext, useTopic, useWording } from '../../app_context.tsx';
import { useBuildGone } from '../../ui/lazy/build_check.ts';
import { fetchPart, lazy } from '../../ui/lazy/lazy.tsx';

/** Interruptions shorter than this many milliseconds are not shown. */
const GRACE = 1_500;

export const bannerPart = lazy(() => import('./connection_banner.tsx'), 'ConnectionBanner');

/** The problem to show, after a delay. Screen readers announce a lost connection and its return. */
export function useConnectionProblem(): Trouble | undefined {
  const { announce } = useAppContext();
  const words = useWording();
  const status = useTopic('status', one => one.status());
  const isGone = useBuildGone();
  const trouble = kindOf(status) ?? (isGone ? 'new_version' : undefined);
  const [shown, setShown] = useState<Trouble>();
  const told = useRef(false);

  // Load the banner while the connection works: without a connection it cannot be fetched.
  useEffect(() => {
    fetchPart(bannerPart, words).catch(() => undefined);
  }, [words]);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        setShown(trouble);
        if (trouble === 'lost' && !told.current) announce(words.connectionLost);
        if (trouble === undefined && told.current) announce(words.connectionBack);
        told.current = trouble === 'lost';
      },
      trouble === undefined || trouble === 'signed_out' ? 0 : GRACE,
    );
    return () => clearTimeout(timer);
  }, [trouble, announce, words]);
  return shown;
}

export type Trouble =
  | 'lost'
  | 'connecting'
  | 'signed_out'
  | 'replaced'
  | 'banned'
  | 'site_closed'
  | 'refused'
  | 'new_version';

export function kindOf(status: Status): Trouble | undefined {
  switch (status.state) {
    case 'online':
    case 'idle':
      return undefined;
    case 'connecting':
      return 'connecting';
    case 'waiting':
    case 'offline':
      return 'lost';
    case 'stopped':
      if (status.code === undefined || status.code === 'done') return 'lost';
      if (status.code === 'replaced' || status.code === 'banned' || status.code === 'site_closed')
        return status.code;
      if (status.code === 'device_banned') return 'banned';
      return SIGN_IN.has(status.code) ? 'signed_out' : 'refused';
  }
}

/** Codes for which a new token would help. Only the site can make one. */
const SIGN_IN: ReadonlySet<string> = new Set([
  'bad_token',
  'token_expired',
  'token_used',
  'no_guests',
  'removed',
  'signed_out',
]);
