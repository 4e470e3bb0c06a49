// The text field of a search, with a button to clear it.

import type { InputHTMLAttributes, Ref } from 'preact';
import { useWording } from '../../app_context.tsx';
import { Icon } from '../icon/icon.tsx';
import { useStyles } from '../styles/use_styles.ts';
import css from './search_field.css?inline';

interface Props {
  label: string;
  value: string;
  onChange(value: string): void;
  /** Additional attributes of the input element. */
  field?: InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> };
}

export function SearchField({ label, value, onChange, field }: Props) {
  useStyles(css);
  const words = useWording();
  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        type="text"
        inputMode="search"
        enterkeyhint="search"
        autocomplete="off"
        spellcheck={false}
        dir={value === '' ? undefined : 'auto'}
        aria-label={label}
        placeholder={label}
        value={value}
        onInput={event => onChange(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key !== 'Escape' || value === '') return;
          event.preventDefault();
          onChange('');
        }}
        {...field}
      />
      {value !== '' && (
        <button type="button" class="icon-button" aria-label={words.clearSearch} onClick={() => onChange('')}>
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}
