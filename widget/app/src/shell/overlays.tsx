// The overlays of a panel or window: a menu, a confirmation, the emoji picker, or a part that covers it.

import type { ComponentChildren } from 'preact';
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { AppContextValue, Closable, EmojiRequest, Question } from '../app_context.tsx';
import { Lazy, lazy, type Part } from '../ui/lazy/lazy.tsx';
import type { MenuRequest } from '../ui/menu/menu.tsx';

/** The part of the context that does not depend on the overlays. */
export type Below = Omit<AppContextValue, 'openMenu' | 'pickEmoji' | 'confirm' | 'show'>;

export interface Overlays {
  context: AppContextValue;
  /** Whether an overlay covers the panel or window. */
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

  const context = useMemo<AppContextValue>(
    () => ({
      ...below,
      openMenu: request => {
        Promise.resolve(request).then(setMenu, () => announce(wording.loadFailed));
      },
      pickEmoji: setEmoji,
      confirm: asked => setQuestion({ ...asked, from: root?.activeElement as HTMLElement }),
      show: (part, props) => setCover({ part: part as Part<Closable>, props }),
    }),
    [below, announce, root, wording],
  );
  const close = useCallback(() => {
    setMenu(undefined);
    setEmoji(undefined);
    setQuestion(undefined);
    setCover(undefined);
  }, []);
  // A sheet that asks stays open.
  const answered = useCallback(() => setQuestion(undefined), []);
  const failed = () => {
    close();
    announce(wording.loadFailed);
  };
  const layer = (
    <>
      {cover && <Lazy part={cover.part} props={{ ...cover.props, onClose: close }} onFailed={failed} />}
      {menu && <Lazy part={menuPart} props={{ request: menu, onClose: close }} onFailed={failed} />}
      {emoji && <Lazy part={picker} props={{ request: emoji, phone, onClose: close }} onFailed={failed} />}
      {question && <Lazy part={confirm} props={{ question, onClose: answered }} onFailed={failed} />}
    </>
  );
  return { context, covered: (menu ?? question ?? emoji ?? cover) !== undefined, layer, close };
}

interface Cover {
  part: Part<Closable>;
  props: object;
}

export const menuPart = lazy(() => import('../ui/menu/menu.tsx'), 'Menu');
export const confirm = lazy(() => import('../ui/confirm_dialog/confirm_dialog.tsx'), 'ConfirmDialog');
const picker = lazy(() => import('../features/emoji/emoji_picker.tsx'), 'Picker');
