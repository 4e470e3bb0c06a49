// Generated from crates/web-proto by `UPDATE=1 cargo test -p web-proto wire_types`. Not edited by hand.

/** The protocol version that `hello` carries. */
export const VERSION = 1;

/** A frame from the client. `rid` (request id) is the client's number for this request. The answer or the error carries it back as `re`. Leave `rid` out if no reply is wanted (`marker`, `typing`, `watch`). */
export type Command =
  | {
      t: "hello"
    } & Hello
  | {
      t: "send";
      /** Client-made idempotency key, 1 to 64 bytes of `[A-Za-z0-9_-]`; a UUIDv7 is the best choice. */
      id: string;
      to: SendTo;
      body: string;
      /** The `seq` of the message in the same conversation that this one answers. */
      reply_to?: number;
      /** Ids of own files, uploaded completely for this conversation, at most 10. With files, `body` may be `""`. */
      files?: Array<string>;
      /** In a room: the `seq` of a thread's root. The message becomes a reply in this thread. */
      thread?: number;
    }
  | {
      t: "poll";
      id: string;
      to: SendTo;
      body: string;
      /** 2 to 10 different choices of 1 to 200 bytes each, without control characters. */
      choices: Array<string>;
      /** A user may vote for several choices. */
      multiple?: boolean;
      /** Nobody can see the votes of a user. */
      anonymous?: boolean;
      /** Unix milliseconds at which voting ends, at most a year ahead. */
      ends?: number;
    }
  | {
      t: "vote";
      rid: number;
      conversation: string;
      seq: number;
      /** Numbers of choices, from 0. Empty: withdraw the vote. */
      choices: Array<number>;
    }
  | {
      t: "close_poll";
      rid: number;
      conversation: string;
      seq: number;
    }
  | {
      t: "drop_preview";
      rid: number;
      conversation: string;
      seq: number;
    }
  | {
      t: "sticker";
      id: string;
      to: SendTo;
      /** Id of the sticker. */
      sticker: string;
      reply_to?: number;
      /** The `seq` of a thread's root, as in `send`. */
      thread?: number;
    }
  | {
      t: "stickers";
      rid: number;
    }
  | {
      t: "forward";
      id: string;
      to: SendTo;
      conversation: string;
      seq: number;
    }
  | {
      t: "marker";
      conversation: string;
    } & ({
        received: number
      } | {
        read: number
      })
  | {
      t: "typing";
      to: SendTo;
      on: boolean;
    }
  | {
      t: "call";
      rid?: number;
    } & ({
        action: "invite";
        user: string;
        media: Media;
        sdp: string;
      } | {
        action: "accept";
        call: string;
        sdp: string;
      } | {
        action: "decline";
        call: string;
        /** The user is in another call. */
        busy?: boolean;
      } | {
        action: "hang_up";
        call: string;
      } | {
        action: "offer";
        call: string;
        sdp: string;
      } | {
        action: "answer";
        call: string;
        sdp: string;
      } | {
        action: "candidate";
        call: string;
        candidate: string;
      } | {
        action: "hold";
        call: string;
        on: boolean;
      } | {
        action: "rejoin";
        call: string;
        /** The `ticket` of `calling` or `joined`. */
        ticket: string;
        sdp: string;
      })
  | {
      t: "group_call";
      rid?: number;
      conversation: string;
    } & ({
        action: "look"
      } | {
        action: "join";
        media: Media;
      } | {
        action: "leave"
      } | {
        action: "offer";
        /** Place of the recipient. */
        to: number;
        sdp: string;
      } | {
        action: "answer";
        to: number;
        sdp: string;
      } | {
        action: "candidate";
        to: number;
        candidate: string;
      })
  | {
      t: "presence";
      set: SetPresence;
    }
  | {
      t: "watch";
      /** Subscribe to all users in state `contact`, also after changes of the contact list. Answered by `watching`. */
      contacts?: boolean;
      /** Ids of users. Each one is answered by `presence`. */
      users: Array<string>;
    }
  | {
      t: "contact";
      rid: number;
      action: ContactAction;
      user: string;
    }
  | {
      t: "contact_name";
      rid: number;
      user: string;
      /** At most 64 characters. Without it, or if nothing visible is left of it, the own name ends. */
      name?: string;
    }
  | {
      t: "contacts";
      rid: number;
      /** The `next` of the previous page. */
      after?: string;
      limit?: number;
    }
  | {
      t: "people";
      rid: number;
      /** Case-insensitive start of a word of the name. */
      query?: string;
      /** The `next` of the previous page. */
      after?: string;
      limit?: number;
    }
  | {
      t: "profiles";
      rid: number;
      users: Array<string>;
    }
  | {
      t: "profile";
      rid: number;
      user?: string;
    }
  | {
      t: "change_profile"
    } & ChangeProfile
  | {
      t: "conversations";
      rid: number;
      /** The `next` of the previous page. */
      after?: string;
      limit?: number;
      /** True: only archived conversations. Otherwise: only conversations that are not archived. */
      archived?: boolean;
      /** Filter for the conversations that are not archived. */
      only?: Only;
    }
  | {
      t: "conversation";
      rid: number;
      conversation: string;
      /** Unix milliseconds until which the conversation is muted. 0 unmutes; 253402300799999 mutes permanently. */
      muted_until?: number;
      pinned?: boolean;
      archived?: boolean;
      /** Shown as unread, until the user next reads the conversation. */
      marked_unread?: boolean;
      /** Draft text, at most `limits.body_bytes`. Empty: remove the draft. */
      draft?: string;
    }
  | {
      t: "history";
      rid: number;
      to: SendTo;
      /** Only messages with a smaller `seq`. The page has the nearest ones. */
      before?: number;
      /** Only messages with a larger `seq`. The page has the nearest ones. */
      after?: number;
      /** The page begins with the first message at or after this time, in Unix milliseconds. Not together with `before`, `after` and `thread`. */
      since?: number;
      /** Only the replies in the thread below this `seq` of a room. */
      thread?: number;
      limit?: number;
    }
  | {
      t: "thread";
      rid: number;
      conversation: string;
      seq: number;
      follow?: boolean;
      /** Number of the last reply that the user has read. It never decreases. */
      read?: number;
    }
  | {
      t: "threads";
      rid: number;
      conversation: string;
    }
  | {
      t: "edit";
      rid: number;
      conversation: string;
      seq: number;
      body: string;
    }
  | {
      t: "delete";
      rid: number;
      conversation: string;
      seq: number;
    }
  | {
      t: "react";
      rid: number;
      conversation: string;
      seq: number;
      /** One emoji, or `:name:`. */
      reaction: string;
      on: boolean;
    }
  | {
      t: "pin";
      rid: number;
      conversation: string;
      seq: number;
      on: boolean;
    }
  | {
      t: "pins";
      rid: number;
      conversation: string;
    }
  | {
      t: "create_room";
      rid: number;
      /** 1 to 200 bytes, no control characters. */
      name: string;
      kind: RoomKind;
      /** At most 1,000 bytes. */
      topic?: string;
    }
  | {
      t: "change_room";
      rid: number;
      conversation: string;
      name?: string;
      /** Empty: remove the topic. */
      topic?: string;
      /** Address of a picture, as in a token. Only an admin of the site may set an address. Empty: remove the room's picture, uploaded or not. */
      avatar?: string;
      /** Id of a complete file, a picture, that the user has uploaded for this room. Not together with `avatar`. */
      picture?: string;
      kind?: RoomKind;
      /** Milliseconds between two messages of a member, at most a day. 0 ends slow mode. */
      slow_ms?: number;
      /** Only the owner and moderators of the room may write. */
      frozen?: boolean;
      /** Largest number of members, up to the site's limit. 0: the site's limit. A lower limit removes no members. */
      max_members?: number;
    }
  | {
      t: "join";
      rid: number;
      to: SendTo;
    }
  | {
      t: "leave";
      rid: number;
      conversation: string;
    }
  | {
      t: "close_room";
      rid: number;
      conversation: string;
      /** For the record, and for members who are in the room with an XMPP app: at most 1,000 bytes. */
      reason?: string;
    }
  | {
      t: "member";
      rid: number;
      conversation: string;
      user: string;
      action: MemberAction;
      /** With `set_role`: the new role. */
      role?: Role;
      /** With `ban`, or with `set_role` and the role `muted`: Unix milliseconds at which the sanction expires. Left out: it does not expire. */
      until?: number;
      /** With `ban`, or with `set_role` and the role `muted`: the reason, at most 1,000 bytes. The reason is recorded, and shown to this user if they are a member. */
      reason?: string;
    }
  | {
      t: "nickname";
      rid: number;
      conversation: string;
      /** One line of at most 100 bytes. Absent or empty: the display name again. */
      nickname?: string;
    }
  | {
      t: "nicknames";
      rid: number;
      conversation: string;
      /** At most 100. */
      users: Array<string>;
    }
  | {
      t: "members";
      rid: number;
      conversation: string;
      /** Case-insensitive start of a word of the name. */
      query?: string;
      /** True: muted members and banned users instead, without `query`. Only for users who may moderate the room. */
      sanctioned?: boolean;
      /** The `next` of the previous page. */
      after?: string;
      limit?: number;
    }
  | {
      t: "make_link";
      rid: number;
      conversation: string;
      /** Hours until the invitation expires, 1 to 8,760. Left out: a week. */
      hours?: number;
      /** Number of users who may join by the invitation, 1 to 10,000. Left out: the limit of the room. */
      uses?: number;
    }
  | {
      t: "links";
      rid: number;
      conversation: string;
    }
  | {
      t: "take_back_link";
      rid: number;
      conversation: string;
      /** `code` from the list of `links`. */
      code: string;
    }
  | {
      t: "open_link";
      rid: number;
      code: string;
    }
  | {
      t: "join_link";
      rid: number;
      code: string;
    }
  | {
      t: "rooms";
      rid: number;
      /** Case-insensitive start of the name. */
      query?: string;
      /** The `next` of the previous page. */
      after?: string;
      limit?: number;
    }
  | {
      t: "search";
      rid: number;
      /** Words. The last one may be the start of a word. */
      query: string;
      /** Only messages of this conversation. */
      conversation?: string;
      /** The `next` of the previous page. */
      after?: string;
      limit?: number;
    }
  | {
      t: "request";
      rid: number;
      conversation: string;
      answer: RequestAnswer;
    }
  | {
      t: "report";
      rid: number;
      conversation?: string;
      seq?: number;
      user?: string;
      reason: ReportReason;
      /** At most 1,000 bytes. */
      text?: string;
    }
  | {
      t: "reports";
      rid: number;
      /** Only reports in this state. Left out: all reports. */
      state?: ReportState;
      /** The `next` of the previous page. */
      after?: string;
      limit?: number;
    }
  | {
      t: "moderate"
    } & Moderate
  | {
      t: "audit";
      rid: number;
      /** The `next` of the previous page. */
      after?: string;
      limit?: number;
    }
  | {
      t: "notices";
      rid: number;
      /** The user has read the warnings. The server removes them. */
      seen?: boolean;
    }
  | {
      t: "settings";
      rid: number;
    }
  | {
      t: "configure";
      rid: number;
      patch: object;
    }
  | {
      t: "test_filter";
      rid: number;
      body: string;
    }
  | {
      t: "notifications";
      rid: number;
      /** Subscribe this browser to notifications. */
      subscribe?: PushSubscription;
      /** Unsubscribe the browser with this endpoint. */
      unsubscribe?: string;
      /** Quiet hours. Equal minutes: no quiet hours. */
      quiet?: QuietHours;
      /** Whether notifications show the text of messages. */
      bodies?: boolean;
      /** Minutes after which missed messages are mailed, at most a week. 0: never. */
      mail?: number;
    }
  | {
      t: "devices";
      rid: number;
    }
  | {
      t: "sign_out";
      rid: number;
      /** `device` from the list of `devices`. */
      device: string;
    }
  | {
      t: "app_passwords";
      rid: number;
    }
  | {
      t: "create_app_password";
      rid: number;
      /** 1 to 64 bytes. */
      name: string;
    }
  | {
      t: "revoke_app_password";
      rid: number;
      /** `number` from the list of `app_passwords`. */
      number: number;
    }
  | {
      t: "export";
      rid: number;
      /** The `next` of the previous page. */
      after?: string;
      limit?: number;
    }
  | {
      t: "remove_account";
      rid: number;
      /** Also delete the user's messages. Left out: the messages stay, without their author. */
      messages?: boolean;
    }
  | {
      t: "resume";
      rid: number;
      position: string;
    }
  | {
      t: "token";
      rid: number;
      token: string;
    }
  | {
      t: "ping";
      rid?: number;
    }
  | {
      t: "bye"
    };

/** The first frame of a session. */
export type Hello = {
  /** Protocol version, 1. */
  v: number;
  /** Key of the site. */
  site: string;
  /** JWT signed by the site. Left out: enter as a guest, if the site allows guests. */
  token?: string;
  /** Id of this browser or app, created once by the client: 1 to 64 bytes of `[A-Za-z0-9_-]`. */
  device: string;
  /** The last `position` that the client received. Left out: request a first page. */
  position?: string;
  /** Software and version, for the operator's metrics: at most 64 bytes. */
  client?: string;
};

/** The recipient of a command. */
export type SendTo =
  | {
      user: string
    }
  | {
      conversation: string
    }
  | {
      page: string
    };

/** Changes of the own profile and its privacy. */
export type ChangeProfile = {
  rid: number;
  /** At most 140 characters. Empty: remove the status. */
  status?: string;
  /** With `status`: Unix milliseconds at which the status expires. Left out: it does not expire. */
  status_until?: number;
  /** At most 200 characters, if the site permits own names. Empty: the site's name, from the next `hello` on. */
  name?: string;
  /** Users who may start a conversation with this user. Existing conversations continue. */
  may_write?: Audience;
  see_presence?: Audience;
  /** Users who may see the last-seen time. Users without access to the presence never see it. */
  see_last_seen?: Audience;
};

/** The users that a member permits something. */
export type Audience = "everybody" | "contacts" | "nobody";

/** Filter of the conversation list. */
export type Only = "unread" | "mentions";

/** The marker to move, and its new position. */
export type MarkerSet =
  | {
      received: number
    }
  | {
      read: number
    };

/** The presence that a user chooses. */
export type SetPresence = "online" | "away" | "busy" | "invisible";

/** An action on a contact. */
export type ContactAction = "request" | "accept" | "decline" | "remove" | "block" | "unblock";

/** An action of a client in a call. */
export type CallAction =
  | {
      action: "invite";
      user: string;
      media: Media;
      sdp: string;
    }
  | {
      action: "accept";
      call: string;
      sdp: string;
    }
  | {
      action: "decline";
      call: string;
      /** The user is in another call. */
      busy?: boolean;
    }
  | {
      action: "hang_up";
      call: string;
    }
  | {
      action: "offer";
      call: string;
      sdp: string;
    }
  | {
      action: "answer";
      call: string;
      sdp: string;
    }
  | {
      action: "candidate";
      call: string;
      candidate: string;
    }
  | {
      action: "hold";
      call: string;
      on: boolean;
    }
  | {
      action: "rejoin";
      call: string;
      /** The `ticket` of `calling` or `joined`. */
      ticket: string;
      sdp: string;
    };

/** An action of a client in the call of a room. */
export type GroupAction =
  | {
      action: "look"
    }
  | {
      action: "join";
      media: Media;
    }
  | {
      action: "leave"
    }
  | {
      action: "offer";
      /** Place of the recipient. */
      to: number;
      sdp: string;
    }
  | {
      action: "answer";
      to: number;
      sdp: string;
    }
  | {
      action: "candidate";
      to: number;
      candidate: string;
    };

export type Media = "audio" | "video";

/** Kind of a room. It decides who may find the room and write in it. */
export type RoomKind = "public" | "private" | "announcement";

/** Role of a member in a room. */
export type Role = "owner" | "moderator" | "member" | "muted";

/** An action on a user in a room. */
export type MemberAction = "invite" | "remove" | "ban" | "unban" | "set_role";

/** The answer to a message request. */
export type RequestAnswer = "accept" | "dismiss";

/** The reason of a report. */
export type ReportReason = "spam" | "abuse" | "sexual" | "violence" | "fraud" | "other" | "filter";

/** The state of a report. */
export type ReportState = "open" | "taken" | "closed";

/** An action of a moderator, with its fields. */
export type Moderate = {
  rid: number;
  act: ModeratorAct;
  /** The target user: with all actions except `delete` and those on reports. */
  user?: string;
  /** With `mute`, `unmute`, `ban`, `unban`: in this room only. With `delete`: the conversation of the message. */
  conversation?: string;
  /** With `delete`: the `seq` of the message. */
  seq?: number;
  /** With `mute`, `ban` and `shadow_ban`: Unix milliseconds at which the sanction expires. Left out: it does not expire. With `raid`: Unix milliseconds at which raid mode ends. */
  until?: number;
  /** With `warn`, `mute`, `ban`, `refuse`: shown to the user. With `shadow_ban` and `close_report`: a note for moderators. At most 1,000 bytes. */
  reason?: string;
  /** With the actions on reports: the number of the report. */
  report?: number;
  /** With `set_role`: the new role. Only admins may set roles. */
  role?: SiteRole;
  /** With `ban` on the whole site: also ban the devices that the user is connected from, and those used in later attempts. */
  devices?: boolean;
  /** With `set_level`: the new level. Left out: the level follows age and activity again. */
  level?: Level;
};

/** The actions of a moderator. */
export type ModeratorAct = "warn" | "mute" | "unmute" | "ban" | "unban" | "kick" | "remove_picture" | "set_role" | "delete" | "take_report" | "close_report" | "reopen_report" | "approve" | "refuse" | "shadow_ban" | "lift_shadow_ban" | "set_level" | "raid" | "end_raid";

/** Role of a user on the whole site. */
export type SiteRole = "member" | "moderator" | "admin";

/** The trust level of a member. */
export type Level = "new" | "basic" | "trusted";

/** The fields of a browser's `PushSubscription` (W3C Push API), and the language of its notifications. */
export type PushSubscription = {
  endpoint: string;
  /** Public key of the browser, base64url. */
  p256dh: string;
  /** Secret of the browser, base64url. */
  auth: string;
  lang?: string;
};

/** Daily hours without notifications. They may span midnight. */
export type QuietHours = {
  /** First quiet minute of the day by the user's clock, 0 to 1439. */
  from: number;
  /** First minute after the quiet hours. */
  to: number;
  /** Minutes that the user's clock is ahead of UTC, -720 to 840. */
  offset: number;
};

/** A frame from the server. `re` is the `rid` of the request that the event answers. `position` is opaque. The client keeps the last `position` that it received, and sends it in `hello` or `resume`. All events up to it were sent to this session. */
export type Event =
  | {
      t: "welcome"
    } & Welcome
  | {
      t: "ack";
      /** The `id` of the `send`. */
      id: string;
      conversation: string;
      seq: number;
      /** Unix milliseconds at which the server accepted the message. */
      time: number;
      /** The message is part of a request that the recipient has not accepted yet. */
      request?: boolean;
      position: string;
    }
  | {
      t: "error";
      code: Code;
      /** For developers; clients show their own text for `code`. */
      text: string;
      re?: number;
      /** The `id` of the `send` that failed. */
      id?: string;
      /** Milliseconds after which a retry makes sense. Absent: a retry is useless. */
      retry_after?: number;
    }
  | {
      t: "message";
      position: string;
      conversation: string;
      /** Gap-free number in the conversation, from 1. */
      seq: number;
      /** Id of the user who posted it. */
      from: string;
      /** The `id` of the sender's `send`. The sender's devices recognise own messages by it, also after a retry. Other apps make longer ids, of any characters except control characters: at most 255 bytes. */
      id: string;
      body: string;
      /** Unix milliseconds. */
      time: number;
      reply_to?: number;
      /** Grows with each change. Absent: unchanged since the message was posted. Of two copies of a message, the one with the greater version is newer. */
      version?: number;
      /** Unix milliseconds of the last edit. */
      edited?: number;
      /** The message was deleted; `body` is empty. */
      deleted?: boolean;
      /** Another app sent the message, with content that only such apps can show. `body` is empty. */
      opaque?: boolean;
      /** The entry of a finished call. `body` describes the call in English. */
      call?: CallEntry;
      /** The message is pinned above the conversation. */
      pinned?: boolean;
      /** Reactions, in the order of their first use. */
      reactions?: Array<Reaction>;
      /** Files, in the order chosen by the sender. */
      files?: Array<SentFile>;
      /** The poll, if the message is one. `body` is its question. */
      poll?: Poll;
      forwarded?: Forwarded;
      /** The `seq` of the thread's root, if the message is a reply in a thread. */
      thread?: number;
      /** With `thread`: the number of this reply in the thread, from 1. */
      number?: number;
      /** The thread below this message, if it has one. */
      replies?: Replies;
      /** Preview of the first link. */
      preview?: Preview;
      /** The sticker, if the message is one. `body` has the words of the sticker. */
      sticker?: Sticker;
    }
  | {
      t: "update";
      re?: number;
      /** The complete message in its present form. `by` decides whether `mine` is valid. */
      message: Message;
      /** Id of the user who changed the message. If it is the own id, `mine` of the reactions is valid. Otherwise `mine` is left out, and the own reactions are unchanged. */
      by: string;
      position: string;
    }
  | {
      t: "counts";
      re?: number;
      conversation: string;
      seq: number;
      /** Version of the message. Ignore counts whose version is not greater than the known one. */
      version: number;
      /** All present reactions of the message, in the order of their first use. */
      reactions: Array<ReactionCount>;
      /** The votes, if the message is a poll. */
      poll?: PollCounts;
      pinned?: boolean;
      /** The message has a preview of its link. Absent: it has none, or not any more. */
      preview?: boolean;
      /** Id of the user who made the change. Absent: several users, or a voter of an anonymous poll. */
      by?: string;
      /** The reaction that `by` added or removed. */
      put?: PutReaction;
      /** The present choices of `by`. */
      chose?: Array<number>;
      position: string;
    }
  | {
      t: "renamed";
      renamed: Renamed;
      position: string;
    }
  | {
      t: "person";
      person: Person;
    }
  | {
      t: "marker";
      conversation: string;
      user: string;
      received: number;
      read: number;
      /** The own unread count, if `user` is the own id. */
      unread?: number;
      position: string;
    }
  | {
      t: "typing";
      conversation: string;
      user: string;
      on: boolean;
    }
  | {
      t: "call";
      re?: number;
      /** Id of the call while it lasts. */
      call: string;
      /** For a new connection: the `iceServers` of `RTCPeerConnection`. */
      ice?: Array<IceServer>;
    } & ({
        news: "calling";
        user: string;
        media: Media;
        /** A secret. With it, a new session takes the same place in the call again. */
        ticket: string;
      } | {
        news: "ring";
        user: string;
        media: Media;
        sdp: string;
        /** Both users called each other at the same moment, and the other user was first: send `accept`. */
        glare?: boolean;
      } | {
        news: "joined";
        ticket: string;
      } | {
        news: "accepted";
        sdp: string;
      } | {
        news: "elsewhere"
      } | {
        news: "offer";
        sdp: string;
      } | {
        news: "answer";
        sdp: string;
      } | {
        news: "candidate";
        candidate: string;
      } | {
        news: "hold";
        on: boolean;
      } | {
        news: "away"
      } | {
        news: "back";
        sdp: string;
      } | {
        news: "rejoined";
        media: Media;
        /** The other user has put the call on hold. */
        hold?: boolean;
        /** The other user is away too. */
        away?: boolean;
        /** Milliseconds since the call was accepted. Absent while it rings. */
        ms?: number;
      } | {
        news: "done"
      } | {
        news: "over";
        outcome: CallOutcome;
        /** Milliseconds from the acceptance to the end of the call. */
        ms: number;
      })
  | {
      t: "group_call";
      re?: number;
      conversation: string;
      /** With `joined`: the `iceServers` of `RTCPeerConnection`. */
      ice?: Array<IceServer>;
    } & ({
        news: "standing";
        /** Largest number of participants. 0: rooms of this site have no calls. */
        most: number;
        /** The current call. Absent: the room has no call, or none that this user may join. */
        now?: GroupCall;
      } | {
        news: "joined";
        /** The own place. */
        place: number;
        media: Media;
        /** Unix milliseconds. */
        since: number;
        most: number;
        here: Array<Participant>;
      } | {
        news: "came";
        user: string;
        /** Number of the participant, as long as they stay with this connection. It is never reused. */
        place: number;
        /** The participant has lost the connection to the server. */
        away?: boolean;
        /** One of the two users has blocked the other: they have no connection. */
        apart?: boolean;
      } | {
        news: "went";
        place: number;
      } | {
        news: "away";
        place: number;
      } | {
        news: "apart";
        place: number;
      } | {
        news: "offer";
        from: number;
        sdp: string;
      } | {
        news: "answer";
        from: number;
        sdp: string;
      } | {
        news: "candidate";
        from: number;
        candidate: string;
      } | {
        news: "elsewhere"
      } | {
        news: "left"
      } | {
        news: "done"
      })
  | {
      t: "presence";
      user: string;
      presence: Presence;
      /** Unix milliseconds at which the user was last connected, if they are offline now. */
      last_seen?: number;
    }
  | {
      t: "watching";
      online?: Array<string>;
      away?: Array<string>;
      busy?: Array<string>;
      /** Not all connected contacts are listed: an unlisted contact may be connected or not. */
      more?: boolean;
    }
  | {
      t: "contact";
      re?: number;
      contact: Contact;
      position: string;
    }
  | {
      t: "contacts";
      re: number;
      contacts: Array<Contact>;
      /** Absent on the last page. */
      next?: string;
    }
  | {
      t: "people";
      re: number;
      people: Array<Person>;
      next?: string;
    }
  | {
      t: "profiles";
      re: number;
      people: Array<Person>;
    }
  | {
      t: "profile";
      re: number;
      profile: Profile;
    }
  | {
      t: "conversations";
      re: number;
      conversations: Array<Conversation>;
      next?: string;
    }
  | {
      t: "conversation";
      re?: number;
      conversation: Conversation;
      position: string;
    }
  | {
      t: "room";
      conversation: string;
      room: Room;
      position: string;
    }
  | {
      t: "member_count";
      conversation: string;
      members: number;
      /** New members, without presence. Only in rooms of up to 50 members, each member at most once in ten minutes. */
      joined?: Array<Person>;
    }
  | {
      t: "left";
      re?: number;
      conversation: string;
      reason: LeftReason;
      position: string;
    }
  | {
      t: "member";
      re: number;
      member: Member;
    }
  | {
      t: "nicknames";
      re: number;
      /** The requested users who have a nickname in the room. */
      names: Array<Nickname>;
    }
  | {
      t: "members";
      re: number;
      members: Array<Member>;
      /** Absent on the last page. */
      next?: string;
    }
  | {
      t: "link";
      re: number;
      conversation: string;
      /** Code of the link, 22 characters of `[A-Za-z0-9_-]`. Everybody who knows the code can join. */
      code: string;
      /** Id of the user who created the invitation. */
      by: string;
      /** Unix milliseconds at which the invitation expires. */
      until: number;
      /** Number of users who may join by the invitation. Absent: the limit of the room. */
      uses?: number;
      /** Number of users who have joined by the invitation. */
      used: number;
    }
  | {
      t: "links";
      re: number;
      conversation: string;
      links: Array<Link>;
    }
  | {
      t: "invitation";
      re: number;
      /** Absent: the user is not a member yet. */
      conversation?: string;
      name: string;
      kind: RoomKind;
      topic?: string;
      avatar?: string;
      /** Path of the uploaded picture, as in a room. */
      picture?: string;
      /** Number of members. */
      members: number;
      /** The user who created the invitation, without presence. */
      by: Person;
      /** Unix milliseconds at which the invitation expires. */
      until: number;
    }
  | {
      t: "rooms";
      re: number;
      rooms: Array<Listed>;
      next?: string;
    }
  | {
      t: "history";
      re: number;
      conversation: string;
      messages: Array<Message>;
      /** More messages exist in the requested direction. */
      more: boolean;
    }
  | {
      t: "pins";
      re: number;
      conversation: string;
      messages: Array<Message>;
    }
  | {
      t: "thread";
      re: number;
      thread: Thread;
    }
  | {
      t: "threads";
      re: number;
      conversation: string;
      threads: Array<Thread>;
    }
  | {
      t: "stickers";
      re: number;
      stickers: Array<Sticker>;
    }
  | {
      t: "found";
      re: number;
      hits: Array<Message>;
      /** Absent on the last page. */
      next?: string;
    }
  | {
      t: "devices";
      re: number;
      devices: Array<Device>;
    }
  | {
      t: "app_passwords";
      re: number;
      /** The user's XMPP address. Absent if no app can sign in: the operator has not set up XMPP, the site has disabled it, or the user is a guest. */
      address?: string;
      passwords: Array<AppPassword>;
    }
  | {
      t: "app_password";
      re: number;
      created: AppPassword;
      /** To be typed as it is, with its hyphens. */
      password: string;
    }
  | {
      t: "exported";
      re: number;
      messages: Array<Message>;
      /** They follow the messages. */
      items?: Array<ExportedItem>;
      /** Absent on the last page. */
      next?: string;
    }
  | {
      t: "reported";
      re: number;
      report: number;
    }
  | {
      t: "reports";
      re: number;
      reports: Array<Report>;
      /** Absent on the last page. */
      next?: string;
    }
  | {
      t: "report";
      report: Report;
    }
  | {
      t: "moderated";
      re: number;
      /** The report in its present form, if the action was on a report. */
      report?: Report;
    }
  | {
      t: "audit";
      re: number;
      entries: Array<AuditEntry>;
      /** Absent on the last page. */
      next?: string;
    }
  | {
      t: "notices";
      re: number;
      notices: Array<Notice>;
    }
  | {
      t: "notice";
      notice: Notice;
    }
  | {
      t: "held";
      held: Held;
    }
  | {
      t: "site";
      site: SiteState;
    }
  | {
      t: "settings";
      re: number;
      settings: {
        [name: string]: unknown
      };
    }
  | {
      t: "filter_tested";
      re: number;
      /** The action of the filters. Absent: the message would be delivered like any other. */
      act?: FilterAct;
      hits: Array<FilterHit>;
    }
  | {
      t: "notifications";
      re: number;
      /** `applicationServerKey` for a browser's subscription. Absent: this server sends no push notifications. */
      key?: string;
      /** Number of the user's browsers that get notifications. */
      devices: number;
      quiet?: QuietHours;
      /** Notifications show the text of messages. */
      bodies: boolean;
      /** Settings of the mail digest. Absent: the site has given no address, or this server sends no mail. */
      mail?: MailDigest;
    }
  | {
      t: "changes";
      re: number;
      /** The position was not usable, and this is a first page: discard all cached data. */
      reset: boolean;
      conversations: Array<Conversation>;
      messages: Array<Message>;
      updates?: Array<Message>;
      gaps: Array<Gap>;
      left?: Array<Left>;
      threads?: Array<ThreadCount>;
      renamed?: Array<Renamed>;
      contacts: Array<Contact>;
      contacts_next?: string;
      conversations_next?: string;
      position: string;
    }
  | {
      t: "behind"
    }
  | {
      t: "token_ok";
      re: number;
      /** Unix milliseconds until which the session may last without a newer token. */
      expires: number;
    }
  | {
      t: "pong";
      re?: number;
    }
  | {
      t: "heartbeat"
    }
  | {
      t: "queued";
      within_ms: number;
    }
  | {
      t: "bye";
      code: Code;
      text: string;
      /** Milliseconds after which the client may reconnect. Absent: do not reconnect automatically. */
      retry_after?: number;
      /** With `banned`: Unix milliseconds at which the ban expires, if it expires. */
      until?: number;
      /** With `banned` and `site_closed`: the explanation of the moderator or the owner, if any. */
      reason?: string;
    };

/** Answer to `hello`. */
export type Welcome = {
  /** For logs and support; not a secret. */
  session: string;
  /** Secret for the header `Authorization: Kith <key>` of a POST and of the next poll. Absent on WebSocket. */
  key?: string;
  /** The user of this session. */
  me: Person;
  /** The own presence, as set by the user. */
  presence: SetPresence;
  /** For guests: a token to return as the same guest. */
  guest_token?: string;
  /** True: all members see each other (mode *open*). False: only contacts do. */
  open: boolean;
  /** The own role on the site. Absent: member. */
  role?: SiteRole;
  /** The allowed callers. Absent: contacts. */
  calls?: CallsFrom;
  /** The write access to the site. Absent: everybody may write, and raid mode is off. */
  site?: SiteState;
  limits: Limits;
  /** Server time, Unix milliseconds. */
  time: number;
  /** Unix milliseconds until which the session may last without a newer token. */
  expires: number;
  /** True: `position` of `hello` was usable, and the fields below have the changes since then. False: this is a first page (newest activity first), and the client discards its cached data. */
  resumed: boolean;
  conversations: Array<Conversation>;
  /** On resume: missed messages, ascending by `seq` inside each conversation. */
  messages: Array<Message>;
  /** On resume: older messages that have changed meanwhile, in their present form. */
  updates?: Array<Message>;
  /** On resume: conversations with more missed messages than are sent here. */
  gaps: Array<Gap>;
  /** On resume: rooms in which the user is no longer a member. */
  left?: Array<Left>;
  /** On resume: threads of rooms with a gap, in their present form. */
  threads?: Array<ThreadCount>;
  /** On resume: users who have got a new id. See the event `renamed`. */
  renamed?: Array<Renamed>;
  /** Contacts: the changed ones (resumed), or a first page. `contacts_next` is like `next` in `contacts`. */
  contacts: Array<Contact>;
  contacts_next?: string;
  /** On a first page: more conversations exist. Send `conversations` with this as `after`. */
  conversations_next?: string;
  position: string;
};

/** The allowed callers. */
export type CallsFrom = "nobody" | "contacts" | "everyone";

/** The limits of the server, so that a client can check before it sends. */
export type Limits = {
  /** Longest message body, in bytes of UTF-8. */
  body_bytes: number;
  /** Longest frame or POST body, in bytes. */
  frame_bytes: number;
  /** Largest `limit` of a page. */
  page: number;
  /** Largest number of `users` in `watch`. */
  watch: number;
  /** Milliseconds without a frame from the client after which the server drops the session. Ping before that. */
  idle_ms: number;
  /** Milliseconds between heartbeats on the stream transports. */
  heartbeat_ms: number;
  /** Longest file, in bytes. Absent: files cannot be sent. */
  file_bytes?: number;
};

/** Address and delay of the mail digest of missed messages. */
export type MailDigest = {
  address: string;
  /** Minutes of unread messages after which the mail is sent, at most once a day. 0: never. */
  after: number;
};

/** A gap in the messages that a client has. To load the older ones, send `history` with `before: first`. */
export type Gap = {
  conversation: string;
  /** The oldest `seq` that is sent. Messages between the client's newest `seq` and this one are missing. */
  first: number;
  /** More older messages have changed than are sent: the client drops all its messages before `first`. */
  forget?: boolean;
};

/** A user with a new id, and the data that others see. */
export type Renamed = {
  /** The former id. */
  was: string;
  /** All messages of the user are deleted. */
  erased?: boolean;
  /** The site's id of the user (`sub` of the token). */
  user: string;
  name: string;
  /** Address of the picture that the site gives. */
  avatar?: string;
  /** Path on the server of the picture that the user has set in an app. The person then has no `avatar`. */
  picture?: string;
  /** A guest, without an account. */
  guest?: boolean;
  /** The present presence. Absent if this user may not see it. */
  presence?: Presence;
};

/** The thread below the message `seq`. The client lacks some of its replies. */
export type ThreadCount = {
  conversation: string;
  seq: number;
  replies: Replies;
};

/** A room in which the user is no longer a member. */
export type Left = {
  conversation: string;
  reason: LeftReason;
};

/** The reason why the user is no longer a member of a room. */
export type LeftReason = "left" | "removed" | "banned" | "closed";

/** A conversation as this user sees it. */
export type Conversation = {
  /** Opaque id. */
  conversation: string;
  /** The other user of a direct conversation. Absent in a room. */
  with?: Person;
  /** The room, if the conversation is one. */
  room?: Room;
  /** The newest message. */
  last?: Message;
  /** The own markers. */
  received: number;
  read: number;
  /** The other user's markers; 0 in a room. */
  their_received: number;
  their_read: number;
  unread: number;
  /** Unread messages that mention this user as `@id`, or all members as `@room`. */
  mentions: number;
  /** Unix milliseconds until which the conversation is muted; 0: not muted. */
  muted_until: number;
  pinned: boolean;
  archived: boolean;
  /** The state of a pending request. Absent: no request is pending. */
  request?: RequestState;
  /** The member who invites this user into the room. This user is not a member yet, and `request` is `received`. */
  requested_by?: Person;
  /** Shown as unread, although all messages were read. */
  marked_unread?: boolean;
  /** The user's draft, from any device. */
  draft?: string;
  /** Unix milliseconds of the last activity. The list is sorted by it. */
  active: number;
};

/** The direction of a pending message request. */
export type RequestState = "sent" | "received";

/** A report, as moderators see it. */
export type Report = {
  report: number;
  state: ReportState;
  /** The conversation of the message, or the reported room. */
  conversation?: string;
  /** The `seq` of the message. */
  seq?: number;
  /** The author of the message, or the reported user. */
  user?: string;
  /** The reporter; absent: a filter. */
  by?: string;
  /** The message is held, and nobody else sees it: `approve` delivers it, `refuse` does not. It is the last of `lines`. */
  held?: boolean;
  reason: ReportReason;
  text?: string;
  /** The message and its neighbours, as they were at the time of the report. */
  lines?: Array<ReportLine>;
  /** Former texts of the message, oldest first. Only texts replaced or deleted in the week before the report. */
  former?: Array<FormerBody>;
  /** Unix milliseconds. */
  time: number;
  /** The moderator who took or closed it; absent: nobody, or the site's own server. */
  moderator?: string;
  note?: string;
};

/** A message, as it was when it or a neighbour was reported. */
export type ReportLine = {
  seq: number;
  from: string;
  time: number;
  body: string;
};

/** A former text of a message, before an edit or the deletion. */
export type FormerBody = {
  body: string;
  /** Unix milliseconds at which the text was replaced. */
  until: number;
};

/** An action of a moderator. */
export type AuditEntry = {
  number: number;
  /** Unix milliseconds. */
  time: number;
  /** The actor. Absent: the site's own server, the operator, or an automatic expiry. */
  by?: string;
  /** Name of the action. Future versions may add names. */
  act: string;
  user?: string;
  conversation?: string;
  /** For display: a reason, an end, a `seq`. */
  detail?: string;
};

/** A notice of a moderator to a user. */
export type Notice = {
  kind: NoticeKind;
  /** The room of the notice. Absent: the whole site. */
  conversation?: string;
  /** Unix milliseconds at which the sanction expires. Absent: it does not expire. */
  until?: number;
  reason?: string;
};

export type NoticeKind = "warning" | "mute" | "ban" | "unmute";

/** A message that only its sender sees. */
export type Held = {
  /** The `id` of the `send`. */
  id: string;
  conversation: string;
  /** The other user, in a direct conversation. */
  user?: string;
  state: HeldState;
  body: string;
  /** As in a message. */
  opaque?: boolean;
  /** Unix milliseconds. */
  time: number;
  reply_to?: number;
  /** With `refused`: the moderator's explanation. */
  reason?: string;
};

export type HeldState = "waiting" | "refused" | "kept";

/** Write access to a site. */
export type SiteState = {
  access: SiteAccess;
  /** The owner's explanation. */
  text?: string;
  /** For moderators: Unix milliseconds until which new members cannot start conversations or write in rooms. */
  raid_until?: number;
};

export type SiteAccess = "open" | "read_only" | "closed";

/** The action of a filter on a message. */
export type FilterAct = "flag" | "hold" | "reject";

/** A match of a filter in a text. */
export type FilterHit = {
  kind: FilterKind;
  /** The word, the host of the link, or the pattern. */
  what: string;
  act: FilterAct;
};

export type FilterKind = "word" | "link" | "pattern" | "unreadable";

/** A room, without its messages. */
export type Room = {
  name: string;
  kind: RoomKind;
  /** The own role. Absent if the user is not a member, and in the event `room`. */
  role?: Role;
  /** Number of members. */
  members: number;
  topic?: string;
  /** Address of the room's picture, set by an admin of the site. */
  avatar?: string;
  /** Path of the room's uploaded picture on the server. The room then has no `avatar`. */
  picture?: string;
  /** The page of the site that the room belongs to. */
  page?: string;
  /** Milliseconds between two messages of a member. 0: no slow mode. */
  slow_ms?: number;
  /** Only the owner and moderators of the room may write. */
  frozen?: boolean;
  /** Largest number of members, by the room's own limit. 0: the site's limit. */
  max_members?: number;
  /** Another number after each change of a member's nickname in the room. 0: no member has had one. Clients that show the room request them by `nicknames`. */
  nicknames?: number;
};

/** The name that a member has chosen for one room. */
export type Nickname = {
  user: string;
  nickname: string;
};

/** A user in a room. */
export type Member = {
  /** The member's role. Absent: the user is not a member. */
  role?: Role;
  /** The user may not come back. */
  banned?: boolean;
  /** A room request is pending: the user was asked to join, and the requester sees no answer yet. */
  requested?: boolean;
  /** The member has received all messages up to this `seq`. Only in `members` of rooms of up to 50, and absent if the requester may not see it. */
  received?: number;
  /** The member has read all messages up to this `seq`. Sent under the conditions of `received`. */
  read?: number;
  /** In the list of muted and banned users: Unix milliseconds at which the sanction expires. Absent: it does not expire. */
  until?: number;
  /** In the list of muted and banned users: the reason given to the member. */
  reason?: string;
  /** The site's id of the user (`sub` of the token). */
  user: string;
  name: string;
  /** Address of the picture that the site gives. */
  avatar?: string;
  /** Path on the server of the picture that the user has set in an app. The person then has no `avatar`. */
  picture?: string;
  /** A guest, without an account. */
  guest?: boolean;
  /** The present presence. Absent if this user may not see it. */
  presence?: Presence;
};

/** A room of the directory. */
export type Listed = {
  conversation: string;
  room: Room;
};

/** An invitation into a room, for users who may take it back. */
export type Link = {
  /** Code of the link, 22 characters of `[A-Za-z0-9_-]`. Everybody who knows the code can join. */
  code: string;
  /** Id of the user who created the invitation. */
  by: string;
  /** Unix milliseconds at which the invitation expires. */
  until: number;
  /** Number of users who may join by the invitation. Absent: the limit of the room. */
  uses?: number;
  /** Number of users who have joined by the invitation. */
  used: number;
};

/** The room of an invitation. */
export type Invitation = {
  /** Absent: the user is not a member yet. */
  conversation?: string;
  name: string;
  kind: RoomKind;
  topic?: string;
  avatar?: string;
  /** Path of the uploaded picture, as in a room. */
  picture?: string;
  /** Number of members. */
  members: number;
  /** The user who created the invitation, without presence. */
  by: Person;
  /** Unix milliseconds at which the invitation expires. */
  until: number;
};

/** A message as stored. */
export type Message = {
  conversation: string;
  /** Gap-free number in the conversation, from 1. */
  seq: number;
  /** Id of the user who posted it. */
  from: string;
  /** The `id` of the sender's `send`. The sender's devices recognise own messages by it, also after a retry. Other apps make longer ids, of any characters except control characters: at most 255 bytes. */
  id: string;
  body: string;
  /** Unix milliseconds. */
  time: number;
  reply_to?: number;
  /** Grows with each change. Absent: unchanged since the message was posted. Of two copies of a message, the one with the greater version is newer. */
  version?: number;
  /** Unix milliseconds of the last edit. */
  edited?: number;
  /** The message was deleted; `body` is empty. */
  deleted?: boolean;
  /** Another app sent the message, with content that only such apps can show. `body` is empty. */
  opaque?: boolean;
  /** The entry of a finished call. `body` describes the call in English. */
  call?: CallEntry;
  /** The message is pinned above the conversation. */
  pinned?: boolean;
  /** Reactions, in the order of their first use. */
  reactions?: Array<Reaction>;
  /** Files, in the order chosen by the sender. */
  files?: Array<SentFile>;
  /** The poll, if the message is one. `body` is its question. */
  poll?: Poll;
  forwarded?: Forwarded;
  /** The `seq` of the thread's root, if the message is a reply in a thread. */
  thread?: number;
  /** With `thread`: the number of this reply in the thread, from 1. */
  number?: number;
  /** The thread below this message, if it has one. */
  replies?: Replies;
  /** Preview of the first link. */
  preview?: Preview;
  /** The sticker, if the message is one. `body` has the words of the sticker. */
  sticker?: Sticker;
};

/** One emoji or `:name:` on a message, and the users who added it. */
export type Reaction = {
  reaction: string;
  count: number;
  /** Ids of the first users who added the reaction and have not removed it, at most 20, oldest first. */
  users: Array<string>;
  /** This user has added the reaction. Only in events made for one user. */
  mine?: boolean;
};

/** Number of users with a reaction on a message. */
export type ReactionCount = {
  reaction: string;
  count: number;
};

/** A reaction that a user has added or removed. */
export type PutReaction = {
  reaction: string;
  on: boolean;
};

/** The votes of a poll. */
export type PollCounts = {
  /** Votes of each choice, in the order of the choices. */
  votes: Array<number>;
  /** Number of users who have voted. */
  voters: number;
  closed?: boolean;
};

/** A poll of a message. */
export type Poll = {
  choices: Array<Choice>;
  /** A user may vote for several choices. */
  multiple?: boolean;
  /** Nobody can see the votes of a user. */
  anonymous?: boolean;
  /** Unix milliseconds at which voting ends. */
  ends?: number;
  /** The author or a moderator has closed the poll. */
  closed?: boolean;
  /** Number of users who have voted. */
  voters: number;
};

/** Metadata of a page, as plain text. */
export type Preview = {
  /** The link, as written in the message. */
  url: string;
  title: string;
  description?: string;
  /** The name of the website. */
  site?: string;
  /** A small picture, re-encoded by the server. */
  picture?: SentFile;
};

/** A small picture that the site's owner provides. */
export type Sticker = {
  id: string;
  /** Name of a set. Stickers of one set are shown together. */
  set: string;
  /** The words of the sticker. They are also the body of a message with this sticker. */
  words: string;
  /** Path of the picture. It is valid as long as the site has the sticker. */
  url: string;
  width: number;
  height: number;
};

/** One choice of a poll. */
export type Choice = {
  text: string;
  votes: number;
  /** Ids of the first users who voted for this choice, at most 20, oldest first. Empty if the poll is anonymous. */
  users?: Array<string>;
  /** This user has voted for the choice. Only in events made for one user. */
  mine?: boolean;
};

/** The origin of a forwarded message. */
export type Forwarded = {
  /** Id of the original author. Absent if the readers of this message may not know the author. */
  from?: string;
};

/** The thread below a message. */
export type Replies = {
  count: number;
  /** Unix milliseconds of the newest reply. */
  last: number;
};

/** A thread of a room as this user sees it. */
export type Thread = {
  root: Message;
  /** The user follows the thread: by an own reply, a reply below an own message, a mention, or by choice. */
  follows?: boolean;
  /** Number of unread replies; 0 if the user does not follow the thread. */
  unread: number;
};

/** An event of a call for a session. */
export type CallNews =
  | {
      news: "calling";
      user: string;
      media: Media;
      /** A secret. With it, a new session takes the same place in the call again. */
      ticket: string;
    }
  | {
      news: "ring";
      user: string;
      media: Media;
      sdp: string;
      /** Both users called each other at the same moment, and the other user was first: send `accept`. */
      glare?: boolean;
    }
  | {
      news: "joined";
      ticket: string;
    }
  | {
      news: "accepted";
      sdp: string;
    }
  | {
      news: "elsewhere"
    }
  | {
      news: "offer";
      sdp: string;
    }
  | {
      news: "answer";
      sdp: string;
    }
  | {
      news: "candidate";
      candidate: string;
    }
  | {
      news: "hold";
      on: boolean;
    }
  | {
      news: "away"
    }
  | {
      news: "back";
      sdp: string;
    }
  | {
      news: "rejoined";
      media: Media;
      /** The other user has put the call on hold. */
      hold?: boolean;
      /** The other user is away too. */
      away?: boolean;
      /** Milliseconds since the call was accepted. Absent while it rings. */
      ms?: number;
    }
  | {
      news: "done"
    }
  | {
      news: "over";
      outcome: CallOutcome;
      /** Milliseconds from the acceptance to the end of the call. */
      ms: number;
    };

/** How a call has ended. */
export type CallOutcome = "ended" | "lost" | "declined" | "busy" | "cancelled" | "missed";

/** An event of the call of a room for a session. */
export type GroupNews =
  | {
      news: "standing";
      /** Largest number of participants. 0: rooms of this site have no calls. */
      most: number;
      /** The current call. Absent: the room has no call, or none that this user may join. */
      now?: GroupCall;
    }
  | {
      news: "joined";
      /** The own place. */
      place: number;
      media: Media;
      /** Unix milliseconds. */
      since: number;
      most: number;
      here: Array<Participant>;
    }
  | {
      news: "came";
      user: string;
      /** Number of the participant, as long as they stay with this connection. It is never reused. */
      place: number;
      /** The participant has lost the connection to the server. */
      away?: boolean;
      /** One of the two users has blocked the other: they have no connection. */
      apart?: boolean;
    }
  | {
      news: "went";
      place: number;
    }
  | {
      news: "away";
      place: number;
    }
  | {
      news: "apart";
      place: number;
    }
  | {
      news: "offer";
      from: number;
      sdp: string;
    }
  | {
      news: "answer";
      from: number;
      sdp: string;
    }
  | {
      news: "candidate";
      from: number;
      candidate: string;
    }
  | {
      news: "elsewhere"
    }
  | {
      news: "left"
    }
  | {
      news: "done"
    };

/** The current call of a room. */
export type GroupCall = {
  /** Media with which the call started. */
  media: Media;
  /** Unix milliseconds. */
  since: number;
  /** Ids of the participants, in the order of joining. */
  here: Array<string>;
};

/** A participant in the call of a room. */
export type Participant = {
  user: string;
  /** Number of the participant, as long as they stay with this connection. It is never reused. */
  place: number;
  /** The participant has lost the connection to the server. */
  away?: boolean;
  /** One of the two users has blocked the other: they have no connection. */
  apart?: boolean;
};

/** The entry of a finished call, in a message of the caller. */
export type CallEntry = {
  media: Media;
  outcome: CallOutcome;
  /** Milliseconds from the acceptance to the end of the call. */
  ms: number;
};

/** A STUN or TURN server, in the format of browsers. */
export type IceServer = {
  urls: Array<string>;
  username?: string;
  credential?: string;
};

/** A file of a message. */
export type SentFile = {
  id: string;
  /** File name to display; never a path. */
  name: string;
  /** Media type, as detected by the server. `image/…` is a picture that the server has re-encoded. `audio/…` and `video/…` can be played. All other types are for download. */
  type: string;
  /** Size in bytes. */
  size: number;
  /** Address of the file, absolute or from the server's root. It expires after some hours; `history` has newer ones. */
  url: string;
  /** Address of the thumbnail, for a picture that is larger than its thumbnail. */
  thumb?: string;
  /** For a picture: its size in pixels. */
  width?: number;
  height?: number;
  /** For a picture: a placeholder until the picture is loaded (<https://blurha.sh>). */
  blurhash?: string;
  /** For a sound or video: its milliseconds, as stated by the sender. */
  duration?: number;
  /** Recorded with a microphone for this message. */
  voice?: boolean;
  /** Loudness of a voice message over its time, as stated by the sender: 1 to 64 digits, one for each equal part. `0` is silence, and `z` is the loudest. */
  peaks?: string;
};

/** A user, as others see them. */
export type Person = {
  /** The site's id of the user (`sub` of the token). */
  user: string;
  name: string;
  /** Address of the picture that the site gives. */
  avatar?: string;
  /** Path on the server of the picture that the user has set in an app. The person then has no `avatar`. */
  picture?: string;
  /** A guest, without an account. */
  guest?: boolean;
  /** The present presence. Absent if this user may not see it. */
  presence?: Presence;
};

/** Presence as others see it. */
export type Presence = "online" | "away" | "busy" | "offline" | "unknown";

/** A member as the recipient sees them. */
export type Profile = {
  status?: string;
  /** Unix milliseconds at which the status expires, if it expires. */
  status_until?: number;
  /** Unix milliseconds. Absent while the member is connected, and if this user may not see it. */
  last_seen?: number;
  /** The member's role on the whole site. Absent: member. */
  role?: SiteRole;
  /** The state between this user and the member. */
  state: ContactState;
  /** Only in the own profile. */
  own?: OwnProfile;
  /** The site's id of the user (`sub` of the token). */
  user: string;
  name: string;
  /** Address of the picture that the site gives. */
  avatar?: string;
  /** Path on the server of the picture that the user has set in an app. The person then has no `avatar`. */
  picture?: string;
  /** A guest, without an account. */
  guest?: boolean;
  /** The present presence. Absent if this user may not see it. */
  presence?: Presence;
};

/** The part of a profile that only its owner gets. */
export type OwnProfile = {
  may_write: Audience;
  see_presence: Audience;
  see_last_seen: Audience;
  /** The site lets members choose their names. */
  may_rename?: boolean;
  /** The site lets members remove their account. */
  may_remove?: boolean;
  /** The site keeps its members' devices. */
  devices?: boolean;
  /** XMPP apps of members can sign in. Guests cannot use them. */
  apps?: boolean;
};

/** A browser or app of the user. */
export type Device = {
  device: string;
  /** The common name of the browser. Absent if the device has not sent one. */
  browser?: string;
  system?: string;
  /** Unix milliseconds of the first sign-in (`created`) and the last one (`used`). */
  created: number;
  used: number;
  /** The device is connected now. */
  here?: boolean;
  /** The device that sent the request. */
  this?: boolean;
};

/** An app password of the user, without the password. */
export type AppPassword = {
  number: number;
  name: string;
  /** Unix milliseconds. */
  created: number;
  /** Unix milliseconds of the last sign-in, up to an hour old. Absent if there was none. */
  used?: number;
  /** An app that has signed in with it is connected now. */
  here?: boolean;
};

/** A value that an app of the user has stored with the account: a setting, a bookmark, a picture, a key. */
export type ExportedItem = {
  /** The name of the list, which apps choose: an XML namespace, as a rule. */
  list: string;
  item: string;
  value: string;
};

/** An entry of the user's contact list. */
export type Contact = {
  state: ContactState;
  /** This user's own name for the contact, which nobody else sees. */
  own_name?: string;
  /** The groups into which this user's apps have sorted the contact. A welcome of a first page leaves them out. */
  groups?: Array<string>;
  /** The site's id of the user (`sub` of the token). */
  user: string;
  name: string;
  /** Address of the picture that the site gives. */
  avatar?: string;
  /** Path on the server of the picture that the user has set in an app. The person then has no `avatar`. */
  picture?: string;
  /** A guest, without an account. */
  guest?: boolean;
  /** The present presence. Absent if this user may not see it. */
  presence?: Presence;
};

/** The state between this user and another user. */
export type ContactState = "none" | "request_sent" | "request_received" | "contact" | "blocked";

/** An error or close code. Frames carry the word. Each code also has a WebSocket close code and an HTTP status. */
export type Code = "going_away" | "done" | "bad_frame" | "bad_utf8" | "bad_transport" | "unknown_command" | "bad_version" | "not_now" | "too_large" | "no_such_site" | "bad_origin" | "bad_token" | "token_expired" | "token_used" | "no_guests" | "banned" | "no_session" | "replaced" | "idle" | "slow" | "rate_limited" | "full" | "unavailable" | "no_such_user" | "no_such_conversation" | "not_allowed" | "bad_body" | "bad_value" | "too_many_contacts" | "no_such_message" | "too_many_reactions" | "not_a_member" | "room_banned" | "muted" | "read_only" | "frozen" | "slow_mode" | "room_full" | "too_many_rooms" | "last_owner" | "bad_invitation" | "too_many_invitations" | "no_such_call" | "in_call" | "call_full" | "room_too_large" | "first_contact" | "request_pending" | "too_many_requests" | "too_many_reports" | "no_such_report" | "site_read_only" | "site_closed" | "kicked" | "too_many_pinned" | "filtered" | "poll_closed" | "too_new" | "no_such_sticker" | "raid" | "device_banned" | "no_push" | "no_such_file" | "file_too_large" | "no_room_for_file" | "too_many_files" | "bad_picture" | "wrong_offset" | "upload_replaced" | "bad_link" | "user_exists" | "no_such_device" | "too_many_app_passwords" | "signed_out" | "key_ended" | "removed" | "internal";

/** Whether and when a client comes back or tries again. */
export type Return = "never" | "with_new_token" | "later" | "now";

/** What a client does after each code. */
export const COMES_BACK = {
  going_away: "later",
  done: "never",
  bad_frame: "never",
  bad_utf8: "never",
  bad_transport: "never",
  unknown_command: "never",
  bad_version: "never",
  not_now: "never",
  too_large: "never",
  no_such_site: "never",
  bad_origin: "never",
  bad_token: "with_new_token",
  token_expired: "with_new_token",
  token_used: "with_new_token",
  no_guests: "with_new_token",
  banned: "never",
  no_session: "now",
  replaced: "never",
  idle: "now",
  slow: "later",
  rate_limited: "later",
  full: "later",
  unavailable: "later",
  no_such_user: "never",
  no_such_conversation: "never",
  not_allowed: "never",
  bad_body: "never",
  bad_value: "never",
  too_many_contacts: "never",
  no_such_message: "never",
  too_many_reactions: "never",
  not_a_member: "never",
  room_banned: "never",
  muted: "never",
  read_only: "never",
  frozen: "never",
  slow_mode: "later",
  room_full: "never",
  too_many_rooms: "never",
  last_owner: "never",
  bad_invitation: "never",
  too_many_invitations: "never",
  no_such_call: "never",
  in_call: "never",
  call_full: "never",
  room_too_large: "never",
  first_contact: "never",
  request_pending: "never",
  too_many_requests: "never",
  too_many_reports: "never",
  no_such_report: "never",
  site_read_only: "never",
  site_closed: "never",
  kicked: "never",
  too_many_pinned: "never",
  filtered: "never",
  poll_closed: "never",
  too_new: "never",
  no_such_sticker: "never",
  raid: "never",
  device_banned: "never",
  no_push: "never",
  no_such_file: "never",
  file_too_large: "never",
  no_room_for_file: "never",
  too_many_files: "never",
  bad_picture: "never",
  wrong_offset: "now",
  upload_replaced: "never",
  bad_link: "now",
  user_exists: "never",
  no_such_device: "never",
  too_many_app_passwords: "never",
  signed_out: "never",
  key_ended: "with_new_token",
  removed: "never",
  internal: "later",
} as const satisfies Record<Code, Return>;

/** Status of an HTTP response with this code. */
export const HTTP_STATUS = {
  going_away: 503,
  done: 200,
  bad_frame: 400,
  bad_utf8: 400,
  bad_transport: 400,
  unknown_command: 400,
  bad_version: 400,
  not_now: 400,
  too_large: 413,
  no_such_site: 404,
  bad_origin: 403,
  bad_token: 401,
  token_expired: 401,
  token_used: 401,
  no_guests: 401,
  banned: 403,
  no_session: 404,
  replaced: 409,
  idle: 408,
  slow: 408,
  rate_limited: 429,
  full: 503,
  unavailable: 503,
  no_such_user: 404,
  no_such_conversation: 404,
  not_allowed: 403,
  bad_body: 400,
  bad_value: 400,
  too_many_contacts: 409,
  no_such_message: 404,
  too_many_reactions: 409,
  not_a_member: 403,
  room_banned: 403,
  muted: 403,
  read_only: 403,
  frozen: 403,
  slow_mode: 429,
  room_full: 409,
  too_many_rooms: 409,
  last_owner: 409,
  bad_invitation: 404,
  too_many_invitations: 409,
  no_such_call: 404,
  in_call: 409,
  call_full: 409,
  room_too_large: 403,
  first_contact: 403,
  request_pending: 403,
  too_many_requests: 403,
  too_many_reports: 409,
  no_such_report: 404,
  site_read_only: 403,
  site_closed: 403,
  kicked: 403,
  too_many_pinned: 409,
  filtered: 403,
  poll_closed: 409,
  too_new: 403,
  no_such_sticker: 404,
  raid: 403,
  device_banned: 403,
  no_push: 409,
  no_such_file: 404,
  file_too_large: 413,
  no_room_for_file: 409,
  too_many_files: 409,
  bad_picture: 422,
  wrong_offset: 409,
  upload_replaced: 409,
  bad_link: 403,
  user_exists: 409,
  no_such_device: 404,
  too_many_app_passwords: 409,
  signed_out: 401,
  key_ended: 401,
  removed: 410,
  internal: 500,
} as const satisfies Record<Code, number>;

/** Code of the WebSocket close frame. */
export const CLOSE_CODE = {
  going_away: 1001,
  done: 1000,
  bad_frame: 4000,
  bad_utf8: 1007,
  bad_transport: 1002,
  unknown_command: 4001,
  bad_version: 4002,
  not_now: 4003,
  too_large: 1009,
  no_such_site: 4004,
  bad_origin: 4005,
  bad_token: 4006,
  token_expired: 4007,
  token_used: 4008,
  no_guests: 4009,
  banned: 4010,
  no_session: 4011,
  replaced: 4012,
  idle: 4013,
  slow: 4014,
  rate_limited: 4015,
  full: 4016,
  unavailable: 4017,
  no_such_user: 4018,
  no_such_conversation: 4019,
  not_allowed: 4020,
  bad_body: 4021,
  bad_value: 4022,
  too_many_contacts: 4023,
  no_such_message: 4024,
  too_many_reactions: 4025,
  not_a_member: 4030,
  room_banned: 4031,
  muted: 4032,
  read_only: 4033,
  frozen: 4034,
  slow_mode: 4035,
  room_full: 4036,
  too_many_rooms: 4037,
  last_owner: 4038,
  bad_invitation: 4039,
  too_many_invitations: 4045,
  no_such_call: 4040,
  in_call: 4041,
  call_full: 4042,
  room_too_large: 4044,
  first_contact: 4050,
  request_pending: 4051,
  too_many_requests: 4052,
  too_many_reports: 4053,
  no_such_report: 4054,
  site_read_only: 4055,
  site_closed: 4056,
  kicked: 4057,
  too_many_pinned: 4026,
  filtered: 4058,
  poll_closed: 4080,
  too_new: 4059,
  no_such_sticker: 4085,
  raid: 4060,
  device_banned: 4061,
  no_push: 4043,
  no_such_file: 4070,
  file_too_large: 4071,
  no_room_for_file: 4072,
  too_many_files: 4073,
  bad_picture: 4074,
  wrong_offset: 4075,
  upload_replaced: 4076,
  bad_link: 4077,
  user_exists: 4083,
  no_such_device: 4081,
  too_many_app_passwords: 4089,
  signed_out: 4082,
  key_ended: 4088,
  removed: 4084,
  internal: 1011,
} as const satisfies Record<Code, number>;

/** The events that answer each command, by their `t`; a refusal is an `error`. */
export interface Answers {
  hello: "welcome";
  send: "ack" | "held";
  marker: never;
  typing: never;
  call: "call";
  group_call: "group_call";
  presence: never;
  watch: "watching" | "presence";
  contact: "contact";
  contact_name: "contact";
  contacts: "contacts";
  people: "people";
  profiles: "profiles";
  conversations: "conversations";
  conversation: "conversation";
  pin: "update" | "counts";
  pins: "pins";
  history: "history";
  edit: "update";
  delete: "update";
  react: "counts";
  search: "found";
  create_room: "conversation";
  change_room: "conversation";
  join: "conversation";
  leave: "left";
  close_room: "left";
  member: "member";
  members: "members";
  nickname: "nicknames";
  nicknames: "nicknames";
  make_link: "link";
  links: "links";
  take_back_link: "links";
  open_link: "invitation";
  join_link: "conversation";
  rooms: "rooms";
  notifications: "notifications";
  resume: "changes";
  token: "token_ok";
  ping: "pong";
  bye: never;
  request: "conversation";
  report: "reported";
  reports: "reports";
  moderate: "moderated";
  audit: "audit";
  notices: "notices";
  poll: "ack" | "held";
  vote: "counts";
  close_poll: "counts";
  drop_preview: "counts";
  sticker: "ack" | "held";
  stickers: "stickers";
  forward: "ack" | "held";
  thread: "thread";
  threads: "threads";
  profile: "profile";
  change_profile: "profile";
  remove_account: never;
  export: "exported";
  devices: "devices";
  sign_out: "devices";
  app_passwords: "app_passwords";
  create_app_password: "app_password";
  revoke_app_password: "app_passwords";
  settings: "settings";
  configure: "settings";
  test_filter: "filter_tested";
}
