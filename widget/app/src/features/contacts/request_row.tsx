// The row of a user who asks to become a contact.

import { direct, type Person } from '@kith/client';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { useWords } from '../../wording/late_words.ts';
import { askToBlock, changeContact } from './contact_actions.ts';

export function RequestRow({ person: listed, tabIndex }: { person: Person; tabIndex: 0 | -1 }) {
  const context = useAppContext();
  const { openChat } = context;
  const words = useWords('contacts');
  const view = useTopic(`presence:${listed.user}`, client => client.presence(listed.user));
  const person = { guest: false, ...listed };
  return (
    <div class="row request-row">
      <button
        type="button"
        class="row-main"
        data-stop
        tabIndex={tabIndex}
        onClick={() => openChat(direct(person.user))}
      >
        <Avatar person={person} presence={view.presence} />
        <span class="row-text">
          <span class="row-name clip">
            <bdi>{person.name}</bdi>
          </span>
          <span class="row-preview clip">{words.wantsContact}</span>
        </span>
      </button>
      <div class="request-buttons">
        <button
          type="button"
          class="button button-main"
          tabIndex={tabIndex}
          onClick={() => changeContact(context, 'accept', person.user)}
        >
          {words.accept}
        </button>
        <button
          type="button"
          class="button"
          tabIndex={tabIndex}
          onClick={() => changeContact(context, 'decline', person.user)}
        >
          {words.decline}
        </button>
        <button
          type="button"
          class="icon-button"
          tabIndex={tabIndex}
          aria-label={words.block}
          title={words.block}
          onClick={() => askToBlock(context, person)}
        >
          <Icon name="block" />
        </button>
      </div>
    </div>
  );
}
