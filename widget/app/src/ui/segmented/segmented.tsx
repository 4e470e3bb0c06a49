// A radio group with few choices that looks like chips or a switch.

import { isRtl } from '../../wording/is_rtl.ts';
import { Icon, type IconName } from '../icon/icon.tsx';
import { useStyles } from '../styles/use_styles.ts';
import css from './segmented.css?inline';

interface Props<Value extends string> {
  label: string;
  value: Value;
  choices: readonly { value: Value; text: string; icon?: IconName }[];
  look: 'chips' | 'switch';
  onChange(value: Value): void;
}

export function Segmented<Value extends string>({ label, value, choices, look, onChange }: Props<Value>) {
  useStyles(css);
  const onKeyDown = (event: KeyboardEvent) => {
    const forward = isRtl(event.currentTarget as HTMLElement) ? 'ArrowLeft' : 'ArrowRight';
    const backward = forward === 'ArrowLeft' ? 'ArrowRight' : 'ArrowLeft';
    const step = { [forward]: 1, ArrowDown: 1, [backward]: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = choices.findIndex(choice => choice.value === value);
    const next = (at + step + choices.length) % choices.length;
    const chosen = choices[next];
    if (chosen === undefined) return;
    onChange(chosen.value);
    (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=radio]')[next]?.focus();
  };
  return (
    <div class={`segmented segmented-${look}`} role="radiogroup" aria-label={label} onKeyDown={onKeyDown}>
      {choices.map(choice => (
        <button
          key={choice.value}
          type="button"
          role="radio"
          aria-checked={choice.value === value}
          tabIndex={choice.value === value ? 0 : -1}
          class="segmented-choice"
          onClick={() => onChange(choice.value)}
        >
          {choice.icon && <Icon name={choice.icon} />}
          {choice.text}
        </button>
      ))}
    </div>
  );
}
