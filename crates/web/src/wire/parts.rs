//! The commands of each part, as patterns.
//!
//! `of!(rooms)` matches the commands that `rooms` decodes, `not_of!(rooms)` all others. `wire::command` matches the former, each part
//! its own commands and the latter. So the compiler finds a command of no part, and a command that its part does not decode.

macro_rules! any {
    ($($command:ident)+) => { $(web_proto::Command::$command { .. })|+ };
}

macro_rules! of {
    (gateway) => { any!(Hello Ping Bye) };
    (account) => {
        any!(Profile ChangeProfile Devices SignOut AppPasswords CreateAppPassword RevokeAppPassword Export
            RemoveAccount)
    };
    (calls) => { any!(Call GroupCall) };
    (contacts) => { any!(Contact ContactName Contacts People Profiles Request) };
    (messages) => {
        any!(Send Poll Sticker Forward Marker Typing Vote ClosePoll DropPreview Edit Delete React Pin Pins Stickers
            Conversations Conversation History Thread Threads Search)
    };
    (moderation) => { any!(Report Reports Moderate Audit Notices Settings Configure TestFilter) };
    (notifications) => { any!(Notifications) };
    (presence) => { any!(Presence Watch) };
    (rooms) => {
        any!(CreateRoom ChangeRoom Join Leave CloseRoom Member Members Nickname Nicknames MakeLink Links TakeBackLink
            OpenLink JoinLink Rooms)
    };
    (session) => { any!(Resume Token) };
    ($($part:ident)+) => { $(of!($part))|+ };
}

macro_rules! not_of {
    (account) => { of!(gateway calls contacts messages moderation notifications presence rooms session) };
    (calls) => { of!(gateway account contacts messages moderation notifications presence rooms session) };
    (contacts) => { of!(gateway account calls messages moderation notifications presence rooms session) };
    (messages) => { of!(gateway account calls contacts moderation notifications presence rooms session) };
    (moderation) => { of!(gateway account calls contacts messages notifications presence rooms session) };
    (notifications) => { of!(gateway account calls contacts messages moderation presence rooms session) };
    (presence) => { of!(gateway account calls contacts messages moderation notifications rooms session) };
    (rooms) => { of!(gateway account calls contacts messages moderation notifications presence session) };
    (session) => { of!(gateway account calls contacts messages moderation notifications presence rooms) };
}
