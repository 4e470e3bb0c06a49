// The invite links of a room: the form for a new link, and the list of active links.

import { type Conversation, type Link, RequestError } from '@kith/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import choicesCss from '../../ui/choice_list/choice_list.css?inline';
import { Icon } from '../../ui/icon/icon.tsx';
import { RequestView } from '../../ui/request/request.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { failureOf } from '../rooms/room_errors.ts';
import css from './invite_links.css?inline';
import { addressOf } from './invite_url.ts';

export { lateWords as words } from '../../wording/late_words.ts';

const DAYS = [1, 7, 30, 365] as const;
/** 0 means no limit other than the size of the room. */
const PEOPLE = [0, 1, 10, 100] as const;

export function InviteLinkList({ conversation }: { conversation: Conversation }) {
  useStyles(choicesCss);
  useStyles(css);
  const { client, announce, confirm } = useAppContext();
  const words = useWords('inviteLinks');
  const aboutRooms = useWords('rooms');
  const [days, setDays] = useState<number>(7);
  const [people, setPeople] = useState<number>(0);
  const [made, setMade] = useState<string>();
  const [failed, setFailed] = useState<string>();
  const [busy, setBusy] = useState(false);
  const title = useRef<HTMLHeadingElement>(null);
  const { key } = conversation;

  const load = useCallback(async () => (await client.invitations()).links(key), [client, key]);
  const links = useRequest(load);
  const inWords = (error: unknown): string => {
    const code = error instanceof RequestError ? error.code : undefined;
    if (code === 'too_many_invitations') return words.linkTooMany;
    return code === 'not_allowed' ? words.linkNotAllowed : failureOf(error, aboutRooms);
  };
  const fail = (error: unknown) => {
    setBusy(false);
    setFailed(inWords(error));
  };
  const make = () => {
    if (busy) return;
    setBusy(true);
    setFailed(undefined);
    client
      .invitations()
      .then(one => one.makeLink(key, days * 24, people || undefined))
      .then(link => {
        setBusy(false);
        setMade(link.code);
        links.update(before => [link, ...before]);
        announce(words.linkMade);
      }, fail);
  };
  const takeBack = ({ code }: Link) =>
    confirm({
      title: words.linkRevokeAsk,
      text: words.linkRevokeExplain,
      action: words.linkRevoke,
      onYes: () =>
        client
          .invitations()
          .then(one => one.takeBackLink(key, code))
          .then(left => {
            links.update(() => left);
            setFailed(undefined);
            announce(words.linkRevoked);
            // The focused element was removed.
            title.current?.focus();
          }, fail),
    });

  return (
    <div class="invitations">
      <form
        class="room-form"
        onSubmit={event => {
          event.preventDefault();
          make();
        }}
      >
        <p class="invitation-hint">{words.linkHint}</p>
        <div class="invitation-bounds">
          <label>
            {words.linkExpiresAfter}
            <select value={String(days)} onChange={event => setDays(Number(event.currentTarget.value))}>
              {DAYS.map(one => (
                <option key={one} value={String(one)} selected={one === days}>
                  {one === 365 ? words.linkYear : words.linkDays(one)}
                </option>
              ))}
            </select>
          </label>
          <label>
            {words.linkFor}
            <select value={String(people)} onChange={event => setPeople(Number(event.currentTarget.value))}>
              {PEOPLE.map(one => (
                <option key={one} value={String(one)} selected={one === people}>
                  {one === 0 ? words.linkForAll : words.linkForPeople(one)}
                </option>
              ))}
            </select>
          </label>
        </div>
        {failed && (
          <p class="room-failed" role="alert">
            {failed}
          </p>
        )}
        <div class="room-form-buttons">
          <button type="submit" class="button button-main" aria-disabled={busy}>
            {words.linkMake}
          </button>
        </div>
      </form>
      <h3 ref={title} class="section-title" tabIndex={-1}>
        {words.activeLinks}
      </h3>
      <RequestView
        request={links}
        empty={<p class="invitation-hint invitation-none">{words.linksNone}</p>}
        failure={inWords}
      >
        {all => (
          <ul class="invitation-list">
            {all.map(one => (
              <StandingLink
                key={one.code}
                link={one}
                room={conversation.with.name}
                isNew={one.code === made}
                onTakeBack={() => takeBack(one)}
              />
            ))}
          </ul>
        )}
      </RequestView>
    </div>
  );
}

interface LinkProps {
  link: Link;
  room: string;
  /** The member has just created the link, so its copy button gets the focus. */
  isNew: boolean;
  onTakeBack(): void;
}

function StandingLink({ link: { code, by, until, uses, used }, room, isNew, onTakeBack }: LinkProps) {
  const { announce } = useAppContext();
  const words = useWords('inviteLinks');
  const name = useTopic(`person:${by}`, one => one.person(by).name);
  const [copied, setCopied] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const copier = useRef<HTMLButtonElement>(null);
  const id = `link-${code}`;
  useEffect(() => {
    if (isNew) copier.current?.focus();
  }, [isNew]);
  const url = addressOf(location.href, code);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(url);
      setCopied(true);
      announce(words.linkCopied);
    } catch {
      // Browsers offer no clipboard to pages without TLS.
      field.current?.select();
      announce(words.somethingFailed);
    }
  };
  const about = [
    words.linkBy(name),
    words.linkUntil(words.full(until)),
    uses === undefined ? words.linkUsed(used) : words.linkUsedOf({ count: used, limit: uses }),
  ];
  const copyText = copied ? words.linkCopied : words.linkCopy;
  return (
    <li>
      <div class="invitation-line">
        <input
          ref={field}
          class="grow"
          readOnly
          dir="ltr"
          aria-label={words.link}
          aria-describedby={id}
          value={url}
          onFocus={event => event.currentTarget.select()}
        />
        <button
          ref={copier}
          type="button"
          class="icon-button"
          aria-label={copyText}
          aria-describedby={id}
          title={copyText}
          onClick={copy}
        >
          <Icon name={copied ? 'check' : 'copy'} />
        </button>
        {'share' in navigator && (
          <button
            type="button"
            class="icon-button"
            aria-label={words.linkShare}
            aria-describedby={id}
            title={words.linkShare}
            onClick={() => navigator.share({ title: room, url }).catch(() => undefined)}
          >
            <Icon name="forward" />
          </button>
        )}
      </div>
      <p class="invitation-hint" id={id}>
        {about.join(' · ')}
      </p>
      <button type="button" class="button" aria-describedby={id} onClick={onTakeBack}>
        {words.linkRevoke}
      </button>
    </li>
  );
}
