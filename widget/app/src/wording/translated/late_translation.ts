/** The texts of a translated language for late parts, by the name that `LateWords` gives each. */

import type { BannerWords } from '../../banner/words.en.ts';
import type { BarWords } from '../../bar/words.en.ts';
import type { CallWords } from '../../call/words.en.ts';
import type { CallLogWords } from '../../call_log/words.en.ts';
import type { PinWords } from '../../chat/words.en.ts';
import type { ChatWords } from '../../chats_tab/words.en.ts';
import type { PeopleWords } from '../../contacts_tab/words.en.ts';
import type { EmojiWords } from '../../emoji/words.en.ts';
import type { FilesWords } from '../../files/words.en.ts';
import type { GuardWords } from '../../guard/words.en.ts';
import type { InvitationWords } from '../../invitation/words.en.ts';
import type { MeWords } from '../../me_tab/words.en.ts';
import type { MessageWords } from '../../message/words.en.ts';
import type { NoticeWords } from '../../notices/words.en.ts';
import type { NotifyWords } from '../../notify/words.en.ts';
import type { ProfileWords } from '../../profile/words.en.ts';
import type { RichWords } from '../../rich/words.en.ts';
import type { RoomWords } from '../../room/words.en.ts';
import type { GroupWords } from '../../room_call/words.en.ts';
import type { SafetyWords } from '../../safety/words.en.ts';
import type { SearchWords } from '../../search/words.en.ts';
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
