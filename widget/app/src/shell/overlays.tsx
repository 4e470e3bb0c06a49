// Overlays of a panel or window: a menu, a question, the emoji picker, a covering part.

import type { ComponentChildren } from 'preact';
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { Closable, EmojiRequest, Question, Surroundings } from '../app_context.tsx';
import { Late, late, type Part } from '../ui/lazy/lazy.tsx';
import type { MenuRequest } from '../ui/menu/menu.tsx';

/** The surroundings that are equal in all places. */
export type Below = Omit<Surroundings, 'openMenu' | 'pickEmoji' | 'confirm' | 'show'>;

export interface Overlays {
  surroundings: Surroundings;
  /** Something lies over it. */
  covered: boolean;
  layer: ComponentChildren;
  close(): void;
}

export function useOverlays(below: Below, phone: boolean): Overlays {
  const [menu, setMenu] = useState<MenuRequest>();
  const [question, setQuestion] = useState<Question>();
  const [emoji, setEmoji] = useState<EmojiRequest>();
  const [cover, setCover] = useState<Cover>();
  const { wording, root, announce } = below;

  const surroundings = useMemo<Surroundings>(
    () => ({
      ...below,
      openMenu: request => {
        Promise.resolve(request).then(setMenu, () => announce(wording.loadFailed));
      },
      pickEmoji: setEmoji,
      confirm: asked => setQuestion({ ...asked, from: root?.activeElement as HTMLElement }),
      show: (part, props) => setCover({ part: part as Part<Closable>, props }),
    }),
    [below],
  );
  const close = useCallback(() => {
    setMenu(undefined);
    setEmoji(undefined);
    setQuestion(undefined);
    setCover(undefined);
  }, []);
  const failed = () => {
    close();
    announce(wording.loadFailed);
  };
  const layer = (
    <>
      {cover && <Late part={cover.part} props={{ ...cover.props, onClose: close }} onFailed={failed} />}
      {menu && <Late part={menuPart} props={{ request: menu, onClose: close }} onFailed={failed} />}
      {emoji && <Late part={picker} props={{ request: emoji, phone, onClose: close }} onFailed={failed} />}
      {question && <Late part={confirm} props={{ question, onClose: close }} onFailed={failed} />}
    </>
  );
  return { surroundings, covered: (menu ?? question ?? emoji ?? cover) !== undefined, layer, close };
}

interface Cover {
  part: Part<Closable>;
  props: object;
}

export const menuPart = late(() => import('../ui/menu/menu.tsx'), 'Menu');
export const confirm = late(() => import('../ui/confirm_dialog/confirm_dialog.tsx'), 'Confirm');
const picker = late(() => import('../features/emoji/emoji_picker.tsx'), 'Picker');
