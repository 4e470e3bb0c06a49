// The form for a new poll: the question, its choices and its options.

import type { ConversationKey } from '@kith/client';
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext } from '../../app_context.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from '../message_extras/message_extras.css?inline';
import { choicesOf, FEWEST, MOST } from './poll_result.ts';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  conversation: ConversationKey;
  onClose(): void;
}

const HOUR = 3_600_000;
const ENDS = [
  ['pollNever', 0],
  ['pollHour', HOUR],
  ['pollDay', 24 * HOUR],
  ['pollWeek', 7 * 24 * HOUR],
] as const;

export function PollForm({ conversation, onClose }: Props) {
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useWords('polls');
  const [question, setQuestion] = useState('');
  const [written, setWritten] = useState<readonly string[]>(['', '']);
  const [multiple, setMultiple] = useState(false);
  const [anonymous, setAnonymous] = useState(false);
  const [ends, setEnds] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const choices = choicesOf(written);
  const ready = question.trim() !== '' && typeof choices !== 'string';
  const post = () => {
    if (!ready || typeof choices === 'string') return;
    const poll = { choices, multiple, anonymous, ...(ends > 0 && { ends: Date.now() + ends }) };
    client.rich().then(
      rich => {
        rich.poll(conversation, question.trim(), poll);
        onClose();
      },
      () => announce(words.loadFailed),
    );
  };
  const write = (at: number, text: string) => setWritten(written.map((one, n) => (n === at ? text : one)));
  const add = () => {
    setWritten([...written, '']);
    requestAnimationFrame(() => {
      form.current?.querySelector<HTMLInputElement>('.poll-line:last-of-type input')?.focus();
    });
  };
  return (
    <Sheet title={words.pollNew} onClose={onClose}>
      <form
        ref={form}
        class="sheet-form"
        onSubmit={event => {
          event.preventDefault();
          post();
        }}
      >
        <label class="sheet-field">
          {words.pollQuestion}
          <textarea
            rows={2}
            maxLength={1000}
            dir="auto"
            required
            placeholder={words.pollQuestionHint}
            value={question}
            onInput={event => setQuestion(event.currentTarget.value)}
          />
        </label>
        <fieldset class="sheet-choices">
          <legend>{words.pollChoices}</legend>
          {written.map((text, at) => (
            <div class="poll-line sheet-field" key={at}>
              <input
                class="grow"
                maxLength={100}
                dir="auto"
                aria-label={words.pollChoice(at + 1)}
                placeholder={words.pollChoice(at + 1)}
                value={text}
                onInput={event => write(at, event.currentTarget.value)}
              />
              {written.length > FEWEST && (
                <button
                  type="button"
                  class="icon-button"
                  aria-label={words.pollRemoveChoice(at + 1)}
                  title={words.pollRemoveChoice(at + 1)}
                  onClick={() => setWritten(written.filter((_, n) => n !== at))}
                >
                  <Icon name="close" />
                </button>
              )}
            </div>
          ))}
          {written.length < MOST && (
            <button type="button" class="button button-plain poll-add" onClick={add}>
              <Icon name="plus" />
              {words.pollAddChoice}
            </button>
          )}
        </fieldset>
        <label class="sheet-choice">
          <input type="checkbox" checked={multiple} onChange={() => setMultiple(!multiple)} />
          {words.pollMultiple}
        </label>
        <label class="sheet-choice">
          <input type="checkbox" checked={anonymous} onChange={() => setAnonymous(!anonymous)} />
          {words.pollAnonymous}
        </label>
        <label class="sheet-field">
          {words.pollEnds}
          <select value={ends} onChange={event => setEnds(Number(event.currentTarget.value))}>
            {ENDS.map(([name, after]) => (
              <option key={name} value={after}>
                {words[name]}
              </option>
            ))}
          </select>
        </label>
        {choices === 'same' && (
          <p class="sheet-failed" role="alert">
            {words.pollSame}
          </p>
        )}
        <div class="sheet-buttons">
          <button type="button" class="button" onClick={onClose}>
            {words.cancel}
          </button>
          <button type="submit" class="button button-main" disabled={!ready}>
            {words.pollPost}
          </button>
        </div>
      </form>
    </Sheet>
  );
}
