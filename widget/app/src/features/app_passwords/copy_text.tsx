// A text that the member takes to another device: to type, or to copy by a button.

import { useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useWords } from '../../wording/late_words.ts';

interface Props {
  text: string;
  /** The name of the button. */
  copy: string;
  copied: string;
  /** The text has the whole width, and the button is below it. */
  large?: boolean;
}

export function CopyText({ text, copy, copied, large }: Props) {
  const { announce } = useAppContext();
  const words = useWords('appPasswords');
  const [outcome, setOutcome] = useState<'copied' | 'failed'>();
  const take = () =>
    // Browsers offer no clipboard to pages without TLS.
    Promise.resolve(navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
      () => {
        setOutcome('copied');
        announce(copied);
      },
      () => setOutcome('failed'),
    );
  const icon = <Icon name={outcome === 'copied' ? 'check' : 'copy'} />;
  const value = (
    <span class="copy-value grow" translate={false}>
      <bdi dir="ltr">{text}</bdi>
    </span>
  );
  return (
    <>
      {large ? (
        <>
          <div class="copy-text copy-large">{value}</div>
          <button type="button" class="button button-main app-button" onClick={take}>
            {icon}
            {copy}
          </button>
        </>
      ) : (
        <div class="copy-text">
          {value}
          <button type="button" class="icon-button" aria-label={copy} title={copy} onClick={take}>
            {icon}
          </button>
        </div>
      )}
      {outcome === 'failed' && (
        <p class="sheet-hint" role="alert">
          {words.copyFailed}
        </p>
      )}
    </>
  );
}
