// Shared behaviour of call windows: moving, resizing, devices, and the keyboard.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { PHONE } from '../../shell/open_shell.ts';
import { useMedia } from '../../ui/use_media/use_media.ts';
import { keepInside, useFocusKey } from './ring_card.tsx';
import { useDrag } from './use_drag.ts';

export type CallWindowState = ReturnType<typeof useWindow>;

/**
 * `frame` is the element of the window and gets `attributes`. `large`: it fills the page. `options`: the
 * devices are shown.
 */
export function useWindow(over: boolean, onClose: () => void) {
  const { root } = useAppContext();
  const phone = useMedia(PHONE);
  const [large, setLarge] = useState(phone);
  const [options, setOptions] = useState(false);
  const frame = useRef<HTMLElement>(null);
  const drag = useDrag(frame, large);
  const { spot } = drag;
  useFocusKey(frame, root);
  useEffect(() => {
    if (over) setOptions(false);
  }, [over]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Tab' && large && frame.current) return keepInside(event, frame.current, root);
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    event.stopPropagation();
    if (options) setOptions(false);
    else if (over) onClose();
    else if (large) setLarge(false);
  };
  const attributes = {
    part: 'call-window',
    role: large ? ('dialog' as const) : ('region' as const),
    ...(large && { 'aria-modal': true }),
    tabIndex: -1,
    style: spot && { left: `${spot.left}px`, top: `${spot.top}px`, right: 'auto', bottom: 'auto' },
    onKeyDown,
  };
  return { frame, attributes, drag, phone, large, options, over, setLarge, setOptions };
}
