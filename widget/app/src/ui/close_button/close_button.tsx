// The button that closes a sheet, a window or a bar.

import { Icon } from '../icon/icon.tsx';

export function CloseButton({ label, onClose }: { label: string; onClose(): void }) {
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={onClose}>
      <Icon name="close" />
    </button>
  );
}
