// The banner of a chat with a user who is no contact: answer or send a contact request, or unblock the user.

import type { ContactState, Conversation } from '@kith/client';
import { Icon } from '../../ui/icon/icon.tsx';
import { askToBlock, changeContact } from '../contacts/contact_actions.ts';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './stranger_banner.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

export function StrangerBanner({ conversation, state }: { conversation: Conversation; state: ContactState }) {
  useStyles(css);
  const context = useAppContext();
  const { client } = context;
  const words = useWords('contacts');
  const user = conversation.with.user;
  const person = useTopic(`person:${user}`, one => one.person(user));
  const me = useTopic('me', one => one.me());
  const change = (action: Parameters<typeof client.changeContact>[0]) => () =>
    changeContact(context, action, user);

  if (state === 'blocked') {
    return (
      <div class="stranger stranger-low">
        <p class="grow">{words.blockedHint(person.name)}</p>
        <button type="button" class="button" onClick={change('unblock')}>
          {words.unblock}
        </button>
      </div>
    );
  }
  if (state === 'request_received') {
    return (
      <div class="stranger">
        <p class="stranger-title">{words.asksYou(person.name)}</p>
        {me?.open === false && <p class="stranger-hint">{words.asksYouHint}</p>}
        <div class="stranger-buttons">
          <button type="button" class="button button-main" onClick={change('accept')}>
            {words.accept}
          </button>
          <button type="button" class="button" onClick={change('decline')}>
            {words.decline}
          </button>
          <button type="button" class="button button-plain" onClick={() => askToBlock(context, person)}>
            <Icon name="block" />
            {words.block}
          </button>
        </div>
      </div>
    );
  }
  if (me === undefined || me.open || state === 'contact' || user === me.user) return null;
  if (state === 'request_sent') {
    return (
      <div class="stranger stranger-low">
        <p class="grow">{words.askedThem(person.name)}</p>
      </div>
    );
  }
  return (
    <div class="stranger stranger-low">
      <p class="grow">{words.strangerTitle(person.name)}</p>
      <button type="button" class="button button-main" onClick={change('request')}>
        {words.addContact}
      </button>
    </div>
  );
}
