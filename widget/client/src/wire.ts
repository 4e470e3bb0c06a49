// Generated from crates/web-proto by `UPDATE=1 cargo test -p web-proto wire_types`. Not edited by hand.

/** The protocol version that `hello` carries. */
export const VERSION = 1;

/** A frame from the client. `rid` (request id) is the client's number for this request; the reply or error carries it back as `re`. It may be left out where no reply is wanted (`marker`, `typing`, `watch`). */
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
      /** Ids of one's files that were brought for this conversation and are complete, at most 10. With some, `body` may be `""`. */
      files?: Array<string>;
      /** In a room: the `seq` of the message below whose thread this is a reply. */
      thread?: number;
    }
  | {
      t: "poll";
      id: string;
      to: SendTo;
      body: string;
      /** 2 to 10 different ones of 1 to 200 bytes, no control characters. */
      choices: Array<string>;
      /** One may vote for several. */
      multiple?: boolean;
      /** Nobody learns who has voted for what. */
      anonymous?: boolean;
      /** Unix milliseconds from which on nobody votes any more, at most a year ahead. */
      ends?: number;
    }
  | {
      t: "vote";
      rid: number;
      conversation: string;
      seq: number;
      /** Numbers of choices, from 0; none takes one's vote back. */
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
      /** Its id. */
      sticker: string;
      reply_to?: number;
      /** As of `send`. */
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
        /** One is in a call elsewhere. */
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
        /** Of `calling` or `joined`. */
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
        /** Their place. */
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
      /** Everybody with whom this user is in state `contact`, now and as that changes. Answered by `watching`. */
      contacts?: boolean;
      /** Each is answered by `presence`. */
      users: Array<string>;
    }
  | {
      t: "contact";
      rid: number;
      action: ContactAction;
      user: string;
    }
  | {
      t: "contacts";
      rid: number;
      /** The `next` of the page before. */
      after?: string;
      limit?: number;
    }
  | {
      t: "people";
      rid: number;
      /** Case-insensitive start of a word of the name. */
      query?: string;
      /** The `next` of the page before. */
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
      /** The `next` of the page before. */
      after?: string;
      limit?: number;
      /** Only archived conversations instead of only the others. */
      archived?: boolean;
      /** Of those that are not archived, only these. */
      only?: Only;
    }
  | {
      t: "conversation";
      rid: number;
      conversation: string;
      /** Unix milliseconds until which it is muted; 0 unmutes; 253402300799999 mutes for good. */
      muted_until?: number;
      pinned?: boolean;
      archived?: boolean;
      /** Shown as unread, until it is read on. */
      marked_unread?: boolean;
      /** Unfinished text, at most `limits.body_bytes`; an empty one removes the draft. */
      draft?: string;
    }
  | {
      t: "history";
      rid: number;
      to: SendTo;
      /** Only messages with a smaller `seq`, nearest first taken. */
      before?: number;
      /** Only messages with a larger `seq`, nearest first taken. */
      after?: number;
      /** The page begins with the first message of this time or later, in milliseconds since 1970. Without `before`, `after` and `thread`. */
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
      /** One has read as many replies; never back. */
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
      /** An empty one takes it away. */
      topic?: string;
      /** The address of a picture, as in a token, which only an admin of the site may set; an empty one removes the room's picture, uploaded or not. */
      avatar?: string;
      /** The id of a complete file, a picture, which one has uploaded for this room. Not together with `avatar`. */
      picture?: string;
      kind?: RoomKind;
      /** Milliseconds between two messages of a member, at most a day; 0 ends slow mode. */
      slow_ms?: number;
      /** Nobody but its owner and moderators may write. */
      frozen?: boolean;
      /** Members that the room takes at most, up to the site's limit; 0: as many as the site lets it. Members who are in it stay. */
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
      t: "member";
      rid: number;
      conversation: string;
      user: string;
      action: MemberAction;
      /** With `set_role`. */
      role?: Role;
      /** With `ban`, or with `set_role` and the role `muted`: when it ends by itself, in Unix milliseconds. Left out: it has no end. */
      until?: number;
      /** With the same: why, at most 1,000 bytes. Shown to this user, if a member, and recorded. */
      reason?: string;
    }
  | {
      t: "members";
      rid: number;
      conversation: string;
      /** Case-insensitive start of a word of the name. */
      query?: string;
      /** Muted members and banned users instead, without `query`; for those who keep order in the room. */
      sanctioned?: boolean;
      /** The `next` of the page before. */
      after?: string;
      limit?: number;
    }
  | {
      t: "make_link";
      rid: number;
      conversation: string;
      /** After so many it ends, 1 to 8,760; left out: a week. */
      hours?: number;
      /** So many may come by it, 1 to 10,000; left out: as many as the room takes. */
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
      /** `code` of the list. */
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
      /** The `next` of the page before. */
      after?: string;
      limit?: number;
    }
  | {
      t: "search";
      rid: number;
      /** Words; the last one may be the start of one. */
      query: string;
      /** Only of this conversation. */
      conversation?: string;
      /** The `next` of the page before. */
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
      /** Left out: all. */
      state?: ReportState;
      /** The `next` of the page before. */
      after?: string;
      limit?: number;
    }
  | {
      t: "moderate"
    } & Moderate
  | {
      t: "audit";
      rid: number;
      /** The `next` of the page before. */
      after?: string;
      limit?: number;
    }
  | {
      t: "notices";
      rid: number;
      /** One has read the warnings; they go. */
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
      /** This browser takes notifications from now on. */
      subscribe?: PushSubscription;
      /** The browser of this endpoint takes none any more. */
      unsubscribe?: string;
      /** Equal minutes: no quiet hours. */
      quiet?: QuietHours;
      /** Whether they show what was written. */
      bodies?: boolean;
      /** After so many minutes what was missed is mailed, at most a week; 0: never. */
      mail?: number;
    }
  | {
      t: "devices";
      rid: number;
    }
  | {
      t: "sign_out";
      rid: number;
      /** `device` of the list. */
      device: string;
    }
  | {
      t: "export";
      rid: number;
      /** The `next` of the page before. */
      after?: string;
      limit?: number;
    }
  | {
      t: "remove_account";
      rid: number;
      /** Also what one has written. Left out: it stays, as nobody's. */
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

/** The first frame. */
export type Hello = {
  /** Protocol version, 1. */
  v: number;
  /** Key of the site. */
  site: string;
  /** JWT signed by the site. Left out: enter as a guest, where the site allows it. */
  token?: string;
  /** Name of this browser or app, made once by the client: 1 to 64 bytes of `[A-Za-z0-9_-]`. */
  device: string;
  /** The last `position` that the client saw. Left out: send a first page. */
  position?: string;
  /** Software and version, for the operator's metrics: at most 64 bytes. */
  client?: string;
};

/** Whom a command is for. */
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

/** Changes of a member's privacy. */
export type ChangeProfile = {
  rid: number;
  /** At most 140 characters; an empty one takes it away. */
  status?: string;
  /** With `status`: Unix milliseconds of its end; left out: it has none. */
  status_until?: number;
  /** At most 200 characters, where the site lets members choose; an empty one is the site's, from the next `hello` on. */
  name?: string;
  /** Audience that may begin a conversation; existing conversations continue. */
  may_write?: Audience;
  see_presence?: Audience;
  /** Not who may not see the presence. */
  see_last_seen?: Audience;
};

/** Those to whom a member allows something. */
export type Audience = "everybody" | "contacts" | "nobody";

/** Which conversations a page has. */
export type Only = "unread" | "mentions";

/** Which marker moves, and up to where. */
export type MarkerSet =
  | {
      received: number
    }
  | {
      read: number
    };

/** The presence that a user chooses. */
export type SetPresence = "online" | "away" | "busy" | "invisible";

/** An act on a contact. */
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
      /** One is in a call elsewhere. */
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
      /** Of `calling` or `joined`. */
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
      /** Their place. */
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

/** Kind of a room: it decides about finding it and writing in it. */
export type RoomKind = "public" | "private" | "announcement";

/** Role of a member in a room. */
export type Role = "owner" | "moderator" | "member" | "muted";

/** An act on a user in a room. */
export type MemberAction = "invite" | "remove" | "ban" | "unban" | "set_role";

/** The answer to a message request. */
export type RequestAnswer = "accept" | "dismiss";

/** Why something is reported. */
export type ReportReason = "spam" | "abuse" | "sexual" | "violence" | "fraud" | "other" | "filter";

/** Whether somebody looks after a report. */
export type ReportState = "open" | "taken" | "closed";

/** An act of a moderator, with its fields. */
export type Moderate = {
  rid: number;
  act: ModeratorAct;
  /** Whom it concerns: with all but `delete` and those about reports. */
  user?: string;
  /** With `mute`, `unmute`, `ban`, `unban`: in this room only. With `delete`: where the message is. */
  conversation?: string;
  /** With `delete`. */
  seq?: number;
  /** With `mute`, `ban` and `shadow_ban`: Unix milliseconds of the end; left out: there is none. With `raid`: of its end. */
  until?: number;
  /** With `warn`, `mute`, `ban`, `refuse`: told to the user. With `shadow_ban` and `close_report`: a note for moderators. At most 1,000 bytes. */
  reason?: string;
  /** With those about reports. */
  report?: number;
  /** With `set_role`, which only admins may. */
  role?: SiteRole;
  /** With `ban` on the whole site: the devices too, from which they are here and from which they try to come. */
  devices?: boolean;
  /** With `set_level`; left out: by age and activity again. */
  level?: Level;
};

/** The kinds of moderators' acts. */
export type ModeratorAct = "warn" | "mute" | "unmute" | "ban" | "unban" | "kick" | "set_role" | "delete" | "take_report" | "close_report" | "reopen_report" | "approve" | "refuse" | "shadow_ban" | "lift_shadow_ban" | "set_level" | "raid" | "end_raid";

/** Role of a user on the whole site. */
export type SiteRole = "member" | "moderator" | "admin";

/** How well a member is known. */
export type Level = "new" | "basic" | "trusted";

/** The fields of a browser's `PushSubscription` (W3C Push API), and the language of its notices. */
export type PushSubscription = {
  endpoint: string;
  /** Public key of the browser, base64url. */
  p256dh: string;
  /** Secret of the browser, base64url. */
  auth: string;
  lang?: string;
};

/** Hours in which nothing is shown, every day. They may pass midnight. */
export type QuietHours = {
  /** Minute of the day by the user's clock, 0 to 1439. */
  from: number;
  /** The first minute that is not quiet any more. */
  to: number;
  /** Minutes by which the user's clock is ahead of UTC, -720 to 840. */
  offset: number;
};

/** A frame from the server. `re` is the `rid` of the request that an event answers. `position` is opaque: the client keeps the last one that it saw and says it in `hello` or `resume`; everything up to it has been sent to this session. */
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
      /** Unix milliseconds at which the server took it. */
      time: number;
      /** It waits for the other one to accept it. */
      request?: boolean;
      position: string;
    }
  | {
      t: "error";
      code: Code;
      /** For people who debug; clients show their own text for `code`. */
      text: string;
      re?: number;
      /** The `id` of the `send` that failed. */
      id?: string;
      /** Trying again makes sense after so many milliseconds; absent: trying again is useless. */
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
      /** The client's `id`: on one's own other devices, and to recognise one's own after a retry. */
      id: string;
      body: string;
      /** Unix milliseconds. */
      time: number;
      reply_to?: number;
      /** Grows with each change; absent: it is as it was posted. Of two pictures of a message the greater is newer. */
      version?: number;
      /** Unix milliseconds of the last edit. */
      edited?: number;
      /** It was taken back; `body` is empty. */
      deleted?: boolean;
      /** It is what has stayed of a call; `body` says the same in English. */
      call?: CallEntry;
      /** It is kept at hand above the conversation. */
      pinned?: boolean;
      /** In the order in which they came first. */
      reactions?: Array<Reaction>;
      /** In the order in which the sender put them. */
      files?: Array<SentFile>;
      /** `body` is its question. */
      poll?: Poll;
      forwarded?: Forwarded;
      /** It is a reply in the thread below this `seq`. */
      thread?: number;
      /** With `thread`: its number among the replies, from 1. */
      number?: number;
      /** A thread hangs below it. */
      replies?: Replies;
      /** Preview of the first link. */
      preview?: Preview;
      /** It is this sticker; the body is its words. */
      sticker?: Sticker;
    }
  | {
      t: "update";
      re?: number;
      /** The whole message as it is now. `by` says for whom `mine` is right. */
      message: Message;
      /** The author of the change. If it is oneself, `mine` of the reactions is right; otherwise `mine` is left out, and one's own reactions are as before. */
      by: string;
      position: string;
    }
  | {
      t: "counts";
      re?: number;
      conversation: string;
      seq: number;
      /** As in a message: ignore counts of a version that is not greater than the one that is known. */
      version: number;
      /** All that the message has now, in the order in which they came first. */
      reactions: Array<ReactionCount>;
      /** Where the message is a poll. */
      poll?: PollCounts;
      pinned?: boolean;
      /** The message has a preview of its link; absent: none, or no longer. */
      preview?: boolean;
      /** The author of the change; absent: several users, or a voter of an anonymous poll. */
      by?: string;
      /** The reaction that `by` put on or took off. */
      put?: PutReaction;
      /** The choices that `by` votes for now. */
      chose?: Array<number>;
      position: string;
    }
  | {
      t: "renamed";
      renamed: Renamed;
      position: string;
    }
  | {
      t: "marker";
      conversation: string;
      user: string;
      received: number;
      read: number;
      /** One's own unread count, where `user` is oneself. */
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
      /** Names the call while it lasts. */
      call: string;
      /** For a connection that begins now: what browsers call `iceServers`. */
      ice?: Array<IceServer>;
    } & ({
        news: "calling";
        user: string;
        media: Media;
        /** A secret: with it one takes one's place in the call again. */
        ticket: string;
      } | {
        news: "ring";
        user: string;
        media: Media;
        sdp: string;
        /** One has called them in the same moment, and they were first: accept. */
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
        /** The other one holds. */
        hold?: boolean;
        /** The other one is away too. */
        away?: boolean;
        /** Milliseconds since the call was accepted; absent while it rings. */
        ms?: number;
      } | {
        news: "done"
      } | {
        news: "over";
        outcome: CallOutcome;
        /** Milliseconds from when it was accepted. */
        ms: number;
      })
  | {
      t: "group_call";
      re?: number;
      conversation: string;
      /** With `joined`: what browsers call `iceServers`. */
      ice?: Array<IceServer>;
    } & ({
        news: "standing";
        /** So many may be in it at once; 0: rooms of this site have no calls. */
        most: number;
        /** Absent: there is none, or none that one might join. */
        now?: GroupCall;
      } | {
        news: "joined";
        /** One's own. */
        place: number;
        media: Media;
        /** Unix milliseconds. */
        since: number;
        most: number;
        here: Array<Participant>;
      } | {
        news: "came";
        user: string;
        /** Names them while they are here with this connection; nobody else ever has it. */
        place: number;
        /** Their connection to the server is lost. */
        away?: boolean;
        /** One of the two has blocked the other: there is no connection between them. */
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
      /** Unix milliseconds of when they were last here, where they are not now. */
      last_seen?: number;
    }
  | {
      t: "watching";
      online?: Array<string>;
      away?: Array<string>;
      busy?: Array<string>;
      /** More are here than are named: those who are not may be here or not. */
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
      /** New members without a presence: only in rooms of up to 50 members, each at most once in ten minutes. */
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
      /** Code of the link, 22 characters of `[A-Za-z0-9_-]`. Everybody who knows it can join. */
      code: string;
      /** Id of the user who has made it. */
      by: string;
      /** Unix milliseconds of its end. */
      until: number;
      /** So many may come by it; absent: as many as the room takes. */
      uses?: number;
      /** So many have come. */
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
      /** Absent: one is no member yet. */
      conversation?: string;
      name: string;
      kind: RoomKind;
      topic?: string;
      avatar?: string;
      /** As of a room. */
      picture?: string;
      /** How many members the room has. */
      members: number;
      /** The inviting user, without a presence. */
      by: Person;
      /** Unix milliseconds of its end. */
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
      /** More messages exist in the asked direction. */
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
      t: "exported";
      re: number;
      messages: Array<Message>;
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
      /** As it is now, where it was about one. */
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
      /** Absent: it would be sent as any other. */
      act?: FilterAct;
      hits: Array<FilterHit>;
    }
  | {
      t: "notifications";
      re: number;
      /** `applicationServerKey` for a browser's subscription. Absent: this server sends no push notifications. */
      key?: string;
      /** How many of one's browsers take them. */
      devices: number;
      quiet?: QuietHours;
      /** They show what was written. */
      bodies: boolean;
      /** Settings of the mail digest. Absent: the site has given no address, or this server sends no mail. */
      mail?: MailDigest;
    }
  | {
      t: "changes";
      re: number;
      /** The position was not usable: forget what is cached, this is a first page. */
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
      t: "bye";
      code: Code;
      text: string;
      /** Come back after so many milliseconds; absent: do not come back by yourself. */
      retry_after?: number;
      /** With `banned`: Unix milliseconds of the end, if it has one. */
      until?: number;
      /** With `banned` and `site_closed`: what a moderator or the owner says about it, if anything. */
      reason?: string;
    };

/** Answer to `hello`. */
export type Welcome = {
  /** For logs and support; not a secret. */
  session: string;
  /** Secret that a POST and the next poll carry in `Authorization: Kith <key>`; absent on WebSocket. */
  key?: string;
  /** Oneself. */
  me: Person;
  /** One's own presence as chosen. */
  presence: SetPresence;
  /** A guest gets a token to come back as the same guest. */
  guest_token?: string;
  /** All members see each other (mode *open*), or only contacts do. */
  open: boolean;
  /** One's own on the site; absent: member. */
  role?: SiteRole;
  /** The users whose calls ring here; absent: contacts. */
  calls?: CallsFrom;
  /** The write access of the site; absent: everybody may write, and there is no raid. */
  site?: SiteState;
  limits: Limits;
  /** Server time, Unix milliseconds. */
  time: number;
  /** Unix milliseconds until which the session may last without a newer token. */
  expires: number;
  /** `position` of `hello` was usable and what follows is the difference since then. Otherwise it is a first page (newest activity first), and the client forgets what it has cached. */
  resumed: boolean;
  conversations: Array<Conversation>;
  /** On resume: messages missed, ascending by `seq` inside each conversation. */
  messages: Array<Message>;
  /** On resume: older messages that have changed meanwhile, as they are now. */
  updates?: Array<Message>;
  /** On resume: conversations of which more was missed than is sent here. */
  gaps: Array<Gap>;
  /** On resume: rooms of which one is no member any more. */
  left?: Array<Left>;
  /** On resume: threads of rooms with a gap, as they are now. */
  threads?: Array<ThreadCount>;
  /** On resume: users who have another id since a moment ago; see the event. */
  renamed?: Array<Renamed>;
  /** Contacts: those that changed (resumed) or a first page. `contacts_next` as `next` in `contacts`. */
  contacts: Array<Contact>;
  contacts_next?: string;
  /** On a first page: there are more conversations (`conversations` with this as `after`). */
  conversations_next?: string;
  position: string;
};

/** The users whose calls ring. */
export type CallsFrom = "nobody" | "contacts" | "everyone";

/** The limits of the server, so that a client can check before it sends. */
export type Limits = {
  /** Longest message body, in bytes of UTF-8. */
  body_bytes: number;
  /** Longest frame or POST body, in bytes. */
  frame_bytes: number;
  /** Largest `limit` of a page. */
  page: number;
  /** Most `users` in `watch`. */
  watch: number;
  /** Milliseconds of silence after which the server drops the session; ping before that. */
  idle_ms: number;
  /** Milliseconds between heartbeats on the stream transports. */
  heartbeat_ms: number;
  /** Longest file, in bytes; absent: no files can be sent. */
  file_bytes?: number;
};

/** Where what was missed is mailed to, and when. */
export type MailDigest = {
  address: string;
  /** After so many minutes of unread messages, and at most once a day; 0: never. */
  after: number;
};

/** A hole in what a client has: it must ask `history` with `before: first` if it wants what lies before. */
export type Gap = {
  conversation: string;
  /** The oldest `seq` that is sent; between the client's newest and this one something is missing. */
  first: number;
  /** More older messages have changed than are sent: the client drops all that it has before `first`. */
  forget?: boolean;
};

/** A user who has another id now, and what others see of them. */
export type Renamed = {
  /** The former id. */
  was: string;
  /** All their messages are deleted. */
  erased?: boolean;
  /** The site's id of the user (`sub` of the token). */
  user: string;
  name: string;
  avatar?: string;
  /** No account. */
  guest?: boolean;
  /** As of now; absent where it may not be seen. */
  presence?: Presence;
};

/** The thread below the message `seq`, some replies of which a client has not seen. */
export type ThreadCount = {
  conversation: string;
  seq: number;
  replies: Replies;
};

/** A room of which one was a member. */
export type Left = {
  conversation: string;
  reason: LeftReason;
};

/** Why one is no member of a room any more. */
export type LeftReason = "left" | "removed" | "banned";

/** A conversation as this user sees it. */
export type Conversation = {
  /** Opaque id. */
  conversation: string;
  /** The other one of a direct conversation; absent in a room. */
  with?: Person;
  /** The room, if the conversation is one. */
  room?: Room;
  /** The newest message. */
  last?: Message;
  /** One's own markers. */
  received: number;
  read: number;
  /** The other's markers; 0 in a room. */
  their_received: number;
  their_read: number;
  unread: number;
  /** Unread messages that name this user as `@id`, or all as `@room`. */
  mentions: number;
  /** Unix milliseconds; 0: not muted. */
  muted_until: number;
  pinned: boolean;
  archived: boolean;
  /** It waits for an answer; absent: it does not. */
  request?: RequestState;
  /** The member who asks this user into the room; the user is no member of it yet. `request` is `received` then. */
  requested_by?: Person;
  /** Shown as unread, although all of it was read. */
  marked_unread?: boolean;
  /** The unfinished text of the user, from any device. */
  draft?: string;
  /** Unix milliseconds of the last activity; the list is sorted by it. */
  active: number;
};

/** The side whose answer a message request waits for. */
export type RequestState = "sent" | "received";

/** A report, as moderators see it. */
export type Report = {
  report: number;
  state: ReportState;
  /** Where the message is, or the room that is reported. */
  conversation?: string;
  /** Of the message. */
  seq?: number;
  /** The author of the message, or the reported user. */
  user?: string;
  /** The reporter; absent: a filter. */
  by?: string;
  /** A message that nobody else sees: `approve` sends it, `refuse` does not. It is the last of `lines`. */
  held?: boolean;
  reason: ReportReason;
  text?: string;
  /** The message and those around it, as they were when it was reported. */
  lines?: Array<ReportLine>;
  /** Former texts of the message, oldest first: those replaced or deleted in the week before the report. */
  former?: Array<FormerBody>;
  /** Unix milliseconds. */
  time: number;
  /** The moderator who took or closed it; absent: nobody, or the site's own server. */
  moderator?: string;
  note?: string;
};

/** A message as it was when it, or one near it, was reported. */
export type ReportLine = {
  seq: number;
  from: string;
  time: number;
  body: string;
};

/** A former text of a message, before an edit or the deletion. */
export type FormerBody = {
  body: string;
  /** When another one took its place. Unix milliseconds. */
  until: number;
};

/** An act of a moderator. */
export type AuditEntry = {
  number: number;
  /** Unix milliseconds. */
  time: number;
  /** Absent: the site's own server, the operator, or an end that came by itself. */
  by?: string;
  /** A word; there may be new ones. */
  act: string;
  user?: string;
  conversation?: string;
  /** For people: a reason, an end, a seq. */
  detail?: string;
};

/** A notice of a moderator to a user. */
export type Notice = {
  kind: NoticeKind;
  /** The room in which it holds; absent: on the whole site. */
  conversation?: string;
  /** Unix milliseconds; absent: there is no end. */
  until?: number;
  reason?: string;
};

export type NoticeKind = "warning" | "mute" | "ban" | "unmute";

/** A message that only its sender sees. */
export type Held = {
  /** The `id` of the `send`. */
  id: string;
  conversation: string;
  /** The other one, in a direct conversation. */
  user?: string;
  state: HeldState;
  body: string;
  /** Unix milliseconds. */
  time: number;
  reply_to?: number;
  /** With `refused`: what a moderator says about it. */
  reason?: string;
};

export type HeldState = "waiting" | "refused" | "kept";

/** Write access to a site. */
export type SiteState = {
  access: SiteAccess;
  /** The owner's explanation. */
  text?: string;
  /** For moderators: until when new members cannot write first or in rooms. Unix milliseconds. */
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
  /** One's own; absent where one is no member, and in the event `room`. */
  role?: Role;
  /** How many members it has. */
  members: number;
  topic?: string;
  /** The address of its picture, which an admin of the site has set. */
  avatar?: string;
  /** The path of its uploaded picture on the server. A room has no `avatar` then. */
  picture?: string;
  /** The page whose room it is. */
  page?: string;
  /** Milliseconds between two messages of a member; 0: no slow mode. */
  slow_ms?: number;
  /** Nobody but its owner and moderators may write. */
  frozen?: boolean;
  /** Members that it takes at most, by its own limit; 0: as many as the site lets it. */
  max_members?: number;
};

/** A user in a room. */
export type Member = {
  /** Absent: no member. */
  role?: Role;
  /** May not come back. */
  banned?: boolean;
  /** A pending room request: the user was asked to join, and the asker knows of no answer. */
  requested?: boolean;
  /** How far the member has received; in `members` of rooms of up to 50 only, and absent where the asker may not see it. */
  received?: number;
  /** How far the member has read; likewise. */
  read?: number;
  /** Unix milliseconds of the end of the mute or the ban, in the list of those; absent: it has no end. */
  until?: number;
  /** The reason that the member was given; likewise. */
  reason?: string;
  /** The site's id of the user (`sub` of the token). */
  user: string;
  name: string;
  avatar?: string;
  /** No account. */
  guest?: boolean;
  /** As of now; absent where it may not be seen. */
  presence?: Presence;
};

/** A room of the directory. */
export type Listed = {
  conversation: string;
  room: Room;
};

/** An invitation into a room, as those see it who may take it back. */
export type Link = {
  /** Code of the link, 22 characters of `[A-Za-z0-9_-]`. Everybody who knows it can join. */
  code: string;
  /** Id of the user who has made it. */
  by: string;
  /** Unix milliseconds of its end. */
  until: number;
  /** So many may come by it; absent: as many as the room takes. */
  uses?: number;
  /** So many have come. */
  used: number;
};

/** The room of an invitation. */
export type Invitation = {
  /** Absent: one is no member yet. */
  conversation?: string;
  name: string;
  kind: RoomKind;
  topic?: string;
  avatar?: string;
  /** As of a room. */
  picture?: string;
  /** How many members the room has. */
  members: number;
  /** The inviting user, without a presence. */
  by: Person;
  /** Unix milliseconds of its end. */
  until: number;
};

/** A message as stored. */
export type Message = {
  conversation: string;
  /** Gap-free number in the conversation, from 1. */
  seq: number;
  /** Id of the user who posted it. */
  from: string;
  /** The client's `id`: on one's own other devices, and to recognise one's own after a retry. */
  id: string;
  body: string;
  /** Unix milliseconds. */
  time: number;
  reply_to?: number;
  /** Grows with each change; absent: it is as it was posted. Of two pictures of a message the greater is newer. */
  version?: number;
  /** Unix milliseconds of the last edit. */
  edited?: number;
  /** It was taken back; `body` is empty. */
  deleted?: boolean;
  /** It is what has stayed of a call; `body` says the same in English. */
  call?: CallEntry;
  /** It is kept at hand above the conversation. */
  pinned?: boolean;
  /** In the order in which they came first. */
  reactions?: Array<Reaction>;
  /** In the order in which the sender put them. */
  files?: Array<SentFile>;
  /** `body` is its question. */
  poll?: Poll;
  forwarded?: Forwarded;
  /** It is a reply in the thread below this `seq`. */
  thread?: number;
  /** With `thread`: its number among the replies, from 1. */
  number?: number;
  /** A thread hangs below it. */
  replies?: Replies;
  /** Preview of the first link. */
  preview?: Preview;
  /** It is this sticker; the body is its words. */
  sticker?: Sticker;
};

/** One emoji or `:name:` on a message, and who put it there. */
export type Reaction = {
  reaction: string;
  count: number;
  /** Ids of the first who put it there and left it, at most 20, oldest first. */
  users: Array<string>;
  /** Oneself is among them; only in what is made for one user. */
  mine?: boolean;
};

/** How many users have put a reaction on a message. */
export type ReactionCount = {
  reaction: string;
  count: number;
};

/** A reaction that a user has put on a message, or taken off. */
export type PutReaction = {
  reaction: string;
  on: boolean;
};

/** The votes of a poll. */
export type PollCounts = {
  /** Of each choice, in the order of the choices. */
  votes: Array<number>;
  /** How many users have voted. */
  voters: number;
  closed?: boolean;
};

/** A poll of a message. */
export type Poll = {
  choices: Array<Choice>;
  /** One may vote for several. */
  multiple?: boolean;
  /** Nobody learns who has voted for what. */
  anonymous?: boolean;
  /** Unix milliseconds; from then on nobody votes any more. */
  ends?: number;
  /** Its author or a moderator has ended it. */
  closed?: boolean;
  /** How many users have voted. */
  voters: number;
};

/** Metadata of a page, as plain text. */
export type Preview = {
  /** As it stands in the message. */
  url: string;
  title: string;
  description?: string;
  /** The name of the whole website of the page. */
  site?: string;
  /** Small, and made anew by the server. */
  picture?: SentFile;
};

/** A small picture of the site's owner. */
export type Sticker = {
  id: string;
  /** Those of one name are shown together. */
  set: string;
  /** The words of the sticker; also the body of a message that is this sticker. */
  words: string;
  /** Path of the picture. It holds for as long as the site has the sticker. */
  url: string;
  width: number;
  height: number;
};

/** One choice of a poll. */
export type Choice = {
  text: string;
  votes: number;
  /** Ids of the first who voted for it, at most 20, oldest first; nobody where the poll is anonymous. */
  users?: Array<string>;
  /** Oneself has; only in what is made for one user. */
  mine?: boolean;
};

/** Where a forwarded message comes from. */
export type Forwarded = {
  /** Id of the user who has said it first; absent where those who read it here may not know them. */
  from?: string;
};

/** The thread below a message. */
export type Replies = {
  count: number;
  /** Unix milliseconds of the newest. */
  last: number;
};

/** A thread of a room as this user sees it. */
export type Thread = {
  root: Message;
  /** One has written in it, or below one's own message, or was named there, or wants to. */
  follows?: boolean;
  /** Replies that one has not read; 0 where one does not follow it. */
  unread: number;
};

/** An event of a call for a session. */
export type CallNews =
  | {
      news: "calling";
      user: string;
      media: Media;
      /** A secret: with it one takes one's place in the call again. */
      ticket: string;
    }
  | {
      news: "ring";
      user: string;
      media: Media;
      sdp: string;
      /** One has called them in the same moment, and they were first: accept. */
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
      /** The other one holds. */
      hold?: boolean;
      /** The other one is away too. */
      away?: boolean;
      /** Milliseconds since the call was accepted; absent while it rings. */
      ms?: number;
    }
  | {
      news: "done"
    }
  | {
      news: "over";
      outcome: CallOutcome;
      /** Milliseconds from when it was accepted. */
      ms: number;
    };

/** How a call has ended. */
export type CallOutcome = "ended" | "lost" | "declined" | "busy" | "cancelled" | "missed";

/** An event of the call of a room for a session. */
export type GroupNews =
  | {
      news: "standing";
      /** So many may be in it at once; 0: rooms of this site have no calls. */
      most: number;
      /** Absent: there is none, or none that one might join. */
      now?: GroupCall;
    }
  | {
      news: "joined";
      /** One's own. */
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
      /** Names them while they are here with this connection; nobody else ever has it. */
      place: number;
      /** Their connection to the server is lost. */
      away?: boolean;
      /** One of the two has blocked the other: there is no connection between them. */
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

/** The call that stands in a room. */
export type GroupCall = {
  /** As it was begun. */
  media: Media;
  /** Unix milliseconds. */
  since: number;
  /** Users, in the order in which they came. */
  here: Array<string>;
};

/** Somebody in the call of a room. */
export type Participant = {
  user: string;
  /** Names them while they are here with this connection; nobody else ever has it. */
  place: number;
  /** Their connection to the server is lost. */
  away?: boolean;
  /** One of the two has blocked the other: there is no connection between them. */
  apart?: boolean;
};

/** The entry of a finished call: a message of the caller has this. */
export type CallEntry = {
  media: Media;
  outcome: CallOutcome;
  /** Milliseconds from when it was accepted. */
  ms: number;
};

/** A STUN or TURN server, as browsers take it. */
export type IceServer = {
  urls: Array<string>;
  username?: string;
  credential?: string;
};

/** A file of a message. */
export type SentFile = {
  id: string;
  /** For people; never a path. */
  name: string;
  /** Media type, as the server has found it. `image/…` is a picture that was made anew, `audio/…` and `video/…` can be played, all else is for download. */
  type: string;
  /** Bytes. */
  size: number;
  /** Where it is, from the server's root or absolute. It opens for some hours; `history` has newer ones. */
  url: string;
  /** Of a picture that is larger than its thumbnail: where that is. */
  thumb?: string;
  /** Of a picture, in pixels. */
  width?: number;
  height?: number;
  /** Of a picture: what to show until it is there (<https://blurha.sh>). */
  blurhash?: string;
  /** Of a sound or video, in milliseconds, as its sender says. */
  duration?: number;
  /** Said into a microphone for this message. */
  voice?: boolean;
  /** How loud a voice message is over its time, as its sender says: 1 to 64 digits, from `0` for silence to `z` for the loudest, one for each of that many equal parts. */
  peaks?: string;
};

/** A user as others see it. */
export type Person = {
  /** The site's id of the user (`sub` of the token). */
  user: string;
  name: string;
  avatar?: string;
  /** No account. */
  guest?: boolean;
  /** As of now; absent where it may not be seen. */
  presence?: Presence;
};

/** Presence as others see it. */
export type Presence = "online" | "away" | "busy" | "offline" | "unknown";

/** A member as the recipient sees them. */
export type Profile = {
  status?: string;
  /** Unix milliseconds of its end, if it has one. */
  status_until?: number;
  /** Unix milliseconds; absent while they are here, and where one may not know. */
  last_seen?: number;
  /** On the whole site; absent: member. */
  role?: SiteRole;
  /** How one stands to them. */
  state: ContactState;
  /** Of oneself. */
  own?: OwnProfile;
  /** The site's id of the user (`sub` of the token). */
  user: string;
  name: string;
  avatar?: string;
  /** No account. */
  guest?: boolean;
  /** As of now; absent where it may not be seen. */
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
};

/** A browser or app of one's own. */
export type Device = {
  device: string;
  /** As people call it; absent where it has not said so. */
  browser?: string;
  system?: string;
  /** Unix milliseconds: when it has signed in first, and last. */
  created: number;
  used: number;
  /** It is connected now. */
  here?: boolean;
  /** It is the one that asks. */
  this?: boolean;
};

/** An entry of one's contact list. */
export type Contact = {
  state: ContactState;
  /** The site's id of the user (`sub` of the token). */
  user: string;
  name: string;
  avatar?: string;
  /** No account. */
  guest?: boolean;
  /** As of now; absent where it may not be seen. */
  presence?: Presence;
};

/** How one stands to a contact. */
export type ContactState = "none" | "request_sent" | "request_received" | "contact" | "blocked";

/** An error or close code. On the wire: the word; the WebSocket close code and HTTP status beside it. */
export type Code = "going_away" | "done" | "bad_frame" | "bad_utf8" | "bad_transport" | "unknown_command" | "bad_version" | "not_now" | "too_large" | "no_such_site" | "bad_origin" | "bad_token" | "token_expired" | "token_used" | "no_guests" | "banned" | "no_session" | "replaced" | "idle" | "slow" | "rate_limited" | "full" | "unavailable" | "no_such_user" | "no_such_conversation" | "not_allowed" | "bad_body" | "bad_value" | "too_many_contacts" | "no_such_message" | "too_many_reactions" | "not_a_member" | "room_banned" | "muted" | "read_only" | "frozen" | "slow_mode" | "room_full" | "too_many_rooms" | "last_owner" | "bad_invitation" | "too_many_invitations" | "no_such_call" | "in_call" | "call_full" | "room_too_large" | "first_contact" | "request_pending" | "too_many_requests" | "too_many_reports" | "no_such_report" | "site_read_only" | "site_closed" | "kicked" | "too_many_pinned" | "filtered" | "poll_closed" | "too_new" | "no_such_sticker" | "raid" | "device_banned" | "no_push" | "no_such_file" | "file_too_large" | "no_room_for_file" | "too_many_files" | "bad_picture" | "wrong_offset" | "upload_replaced" | "bad_link" | "user_exists" | "no_such_device" | "signed_out" | "key_ended" | "removed" | "internal";

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
  member: "member";
  members: "members";
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
  settings: "settings";
  configure: "settings";
  test_filter: "filter_tested";
}
