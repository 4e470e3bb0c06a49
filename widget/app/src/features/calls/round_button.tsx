// A round button of a call. Its label is a tooltip and the name for screen readers.

import { Icon, type IconName } from '../../ui/icon/icon.tsx';

interface Props {
  icon: IconName;
  label: string;
  class?: string;
  off?: boolean;
  on?: boolean;
  expanded?: boolean;
  onClick(): void;
  onKeyDown?(event: KeyboardEvent): void;
}

export function RoundButton({ icon, label, class: more = '', off, on, expanded, onClick, onKeyDown }: Props) {
  const state = off ? 'is-off' : on ? 'is-on' : '';
  return (
    <button
      type="button"
      class={`call-round ${state} ${more}`}
      aria-label={label}
      title={label}
      {...(expanded !== undefined && { 'aria-expanded': expanded })}
      onClick={onClick}
      {...(onKeyDown && { onKeyDown })}
    >
      <Icon name={icon} />
    </button>
  );
}
