/** The texts of a translated language for late parts, by the name that `LateWords` gives each. */

import type { CallLogWords } from '../../features/call_log/words.en.ts';
import type { CallWords } from '../../features/calls/words.en.ts';
import type { ChatWords } from '../../features/chats/words.en.ts';
import type { BannerWords } from '../../features/connection/words.en.ts';
import type { PeopleWords } from '../../features/contacts/words.en.ts';
import type { EmojiWords } from '../../features/emoji/words.en.ts';
import type { FilesWords } from '../../features/files/words.en.ts';
import type { GroupWords } from '../../features/group_calls/words.en.ts';
import type { InvitationWords } from '../../features/invite_links/words.en.ts';
import type { MeWords } from '../../features/me/words.en.ts';
import type { MessageWords } from '../../features/message/words.en.ts';
import type { RichWords } from '../../features/message_extras/words.en.ts';
import type { SafetyWords } from '../../features/moderation/words.en.ts';
import type { PinWords } from '../../features/pinned_messages/words.en.ts';
import type { ProfileWords } from '../../features/profile/words.en.ts';
import type { NotifyWords } from '../../features/push_settings/words.en.ts';
import type { RoomWords } from '../../features/rooms/words.en.ts';
import type { SearchWords } from '../../features/search/words.en.ts';
import type { GuardWords } from '../../features/site_settings/words.en.ts';
import type { NoticeWords } from '../../features/toasts/words.en.ts';
import type { BarWords } from '../../shell/bar/words.en.ts';
import type { Plural } from '../wording.ts';

/** Missing parts are shown in English, part by part. */
export interface LateTranslation {
  pins?: Make<PinWords>;
  chats?: Make<ChatWords>;
  people?: Make<PeopleWords>;
  emoji?: Make<EmojiWords>;
  files?: Make<FilesWords>;
  me?: Make<MeWords>;
  message?: Make<MessageWords>;
  notices?: Make<NoticeWords>;
  notify?: Make<NotifyWords>;
  room?: Make<RoomWords>;
  safety?: Make<SafetyWords>;
  search?: Make<SearchWords>;
  banner?: Make<BannerWords>;
  bar?: Make<BarWords>;
  rich?: Make<RichWords>;
  call?: Make<CallWords>;
  callLog?: Make<CallLogWords>;
  profile?: Make<ProfileWords>;
  guard?: Make<GuardWords>;
  groupCall?: Make<GroupWords>;
  invitation?: Make<InvitationWords>;
}

type Make<W> = (plural: Plural) => Translated<W>;

/** Authors of new texts need not speak twenty languages: a test, not the compiler, reports missing translations. */
export type Translated<W> = {
  [K in keyof W]?: W[K] extends (...args: never[]) => unknown
    ? W[K]
    : W[K] extends object
      ? Translated<W[K]>
      : W[K];
};
