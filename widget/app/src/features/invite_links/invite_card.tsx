// The room of an invitation link, and the button to join it.

import { type Client, type Invited, RequestError } from '@kith/client';
import { useEffect, useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
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

/** Comes once there is an answer. Whoever is a member already is led to the room. */
export function InviteCard({ hash, onDone }: Props) {
  useStyles(roomCss);
  useStyles(css);
  const { client, openChat, announce } = useAppContext();
  const words = useWords('inviteLinks');
  const aboutRooms = useWords('rooms');
  const [invited, setInvited] = useState<Invited>();
  const [failed, setFailed] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    let wanted = true;
    let waits = false;
    const look = () =>
      lookAt(client, hash).then(
        one => {
          if (!wanted) return;
          setFailed(undefined);
          if (one.key === undefined) return setInvited(one);
          onDone();
          openChat(one.key);
        },
        (error: unknown) => {
          if (!wanted) return;
          setFailed(error);
          waits = kindOf(client.status()) === 'signed_out';
          if (waits) letWait(hash);
        },
      );
    // A page may let one sign in without leaving it.
    const leave = client.subscribe('status', () => {
      if (!waits || client.status().state !== 'online') return;
      waits = false;
      void look();
    });
    void look();
    return () => {
      wanted = false;
      leave();
    };
  }, [client, hash]);
  const join = () => {
    if (busy) return;
    setBusy(true);
    setFailed(undefined);
    joinBy(client, hash).then(
      key => {
        onDone();
        openChat(key);
        announce(aboutRooms.joined);
      },
      (error: unknown) => {
        setBusy(false);
        setFailed(error);
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
  if (invited === undefined && failed === undefined) return null;
  if (invited === undefined || over) {
    return (
      <Sheet title={over ? words.invitationOver : words.invitation} onClose={onDone}>
        <div class="sheet-form">
          <p class="sheet-hint" role="alert">
            {why()}
          </p>
          <div class="sheet-buttons">
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
