// The card of an invite link: the room, and the button to join it.

import { type Client, type ConversationKey, type Invited, RequestError } from '@kith/client';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';
import { useWords } from '../../wording/late_words.ts';
import { kindOf } from '../connection/connection_problem.ts';
import { online } from '../connection/wait_until_online.ts';
import roomCss from '../rooms/room.css?inline';
import { failureOf } from '../rooms/room_errors.ts';
import css from './invite_links.css?inline';
import { codeIn } from './invite_url.ts';
import { letWait } from './pending_invite.ts';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  hash: string;
  onDone(): void;
}

/** Renders nothing until the server answers. If the user is a member already, it opens the room instead. */
export function InviteCard({ hash, onDone }: Props) {
  useStyles(roomCss);
  useStyles(css);
  const { client, openChat, announce } = useAppContext();
  const words = useWords('inviteLinks');
  const aboutRooms = useWords('rooms');
  // A visitor may sign in without leaving the page. `useRequest` repeats a failed load with the next connection.
  const load = useCallback(() => lookAt(client, hash), [client, hash]);
  const request = useRequest(load);
  const { data: invited } = request;
  const [notJoined, setNotJoined] = useState<unknown>();
  const failed = request.failed ? request.error : notJoined;
  const [busy, setBusy] = useState(false);
  const open = useEffectEvent((key: ConversationKey) => {
    onDone();
    openChat(key);
  });
  useEffect(() => {
    if (invited?.key !== undefined) open(invited.key);
  }, [invited]);
  useEffect(() => {
    if (request.failed && kindOf(client.status()) === 'signed_out') letWait(hash);
  }, [client, hash, request.failed]);
  const join = () => {
    if (busy) return;
    setBusy(true);
    setNotJoined(undefined);
    joinBy(client, hash).then(
      key => {
        onDone();
        openChat(key);
        announce(aboutRooms.joined);
      },
      (error: unknown) => {
        setBusy(false);
        setNotJoined(error);
      },
    );
  };

  const code = failed instanceof RequestError ? failed.code : undefined;
  const over = code === 'bad_invitation';
  const why = () => {
    if (over) return words.invitationOverHint;
    if (code !== 'offline') return failureOf(failed, aboutRooms);
    return kindOf(client.status()) === 'signed_out' ? words.invitationSignIn : words.invitationOffline;
  };
  if (request.loading || invited?.key !== undefined) return null;
  if (invited === undefined || over) {
    return (
      <Sheet title={over ? words.invitationOver : words.invitation} onClose={onDone}>
        <div class="sheet-form">
          <p class="sheet-hint" role="alert">
            {why()}
          </p>
          <div class="sheet-buttons">
            {!over && (
              <button type="button" class="button" onClick={request.retry}>
                {words.tryAgain}
              </button>
            )}
            <button type="button" class="button button-main" onClick={onDone}>
              {words.invitationOk}
            </button>
          </div>
        </div>
      </Sheet>
    );
  }
  const { name, picture, kind, members, topic, by, until } = invited;
  const avatar = picture ? client.server + picture : invited.avatar;
  return (
    <Sheet title={words.invitation} onClose={onDone}>
      <div class="room-card">
        <Avatar person={{ user: name, name, guest: false, ...(avatar && { avatar }) }} size="large" room />
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <p>{`${words.roomKinds[kind]} · ${aboutRooms.roomCount({ count: members, number: words.number(members) })}`}</p>
        {topic && <p dir="auto">{topic}</p>}
      </div>
      <div class="sheet-form">
        <div class="invitation-by">
          <Avatar person={{ guest: false, ...by }} size="small" />
          <p>
            {words.invitedBy(by.name)}
            <span class="sheet-hint">{words.invitedUntil(words.full(until))}</span>
          </p>
        </div>
        {failed !== undefined && (
          <p class="sheet-failed" role="alert">
            {why()}
          </p>
        )}
        <div class="sheet-buttons">
          <button type="button" class="button" onClick={onDone}>
            {words.notNow}
          </button>
          <button type="button" class="button button-main" aria-disabled={busy} onClick={join}>
            {aboutRooms.join}
          </button>
        </div>
      </div>
    </Sheet>
  );
}

async function lookAt(client: Client, hash: string): Promise<Invited> {
  const code = codeIn(hash);
  if (code === undefined) throw new RequestError('bad_invitation');
  await online(client);
  return (await client.invitations()).openLink(code);
}

async function joinBy(client: Client, hash: string) {
  return (await client.invitations()).joinLink(codeIn(hash) ?? '');
}
