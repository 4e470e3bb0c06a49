//! The arguments of `kith user`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{DataFlag, Listing};
use crate::span::Span;

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// List the users of a site, ordered by id.
    List(UserList),
    /// Show one user.
    Show(UserOne),
    /// Ban a user. All sessions end, and sign-ins are refused.
    ///
    /// Example: kith user ban --site garden tom --for 7d --reason "Insults"
    #[command(verbatim_doc_comment)]
    Ban(UserBan),
    /// Unban a user.
    Unban(UserOne),
    /// Erase a user: name, picture, contacts, room memberships and messages. This cannot be undone.
    ///
    /// Example: kith user erase --site garden tom --keep-messages
    #[command(verbatim_doc_comment)]
    Erase(UserErase),
    /// Turn a guest into a member: the guest's data moves to an account that has not been used yet.
    ///
    /// The guest's token proves that the account is the guest's; a public id is not enough. A page gets it by Kith.guestToken().
    ///
    /// Example: kith user merge --site garden --guest-token-file token.txt anna
    #[command(verbatim_doc_comment)]
    Merge(UserMerge),
    /// Set the role of a user on the site: member, moderator or admin.
    ///
    /// Example: kith user role --site garden anna moderator
    #[command(verbatim_doc_comment)]
    Role(UserRole),
    /// Hide what a user writes from all others, without notice to the user.
    ///
    /// Example: kith user shadow-ban --site garden tom --for 7d
    #[command(verbatim_doc_comment)]
    ShadowBan(UserShadow),
    /// End a shadow ban. Messages written during it stay hidden.
    LiftShadowBan(UserOne),
    /// Set the trust level of a user: new, basic or trusted; or auto, by age and activity.
    ///
    /// Example: kith user level --site garden anna trusted
    #[command(verbatim_doc_comment)]
    Level(UserLevel),
    /// Make an app password, with which a user signs in from an XMPP app.
    ///
    /// Example: kith user set-password --site garden anna --name "Tablet"
    ///
    /// Prints a random password, only this once. With --stdin, the password is read from standard input instead; it has 12
    /// characters or more. A user has at most 16.
    #[command(verbatim_doc_comment)]
    SetPassword(UserSetPassword),
    /// List the app passwords of a user: number, name, and when each was made and last used.
    Passwords(UserOne),
    /// Revoke an app password. Sessions of the password end.
    ///
    /// Example: kith user revoke-password --site garden anna 3
    #[command(verbatim_doc_comment)]
    RevokePassword(UserRevokePassword),
}

impl UserCommand {
    pub(crate) fn data(&self) -> &DataFlag {
        match self {
            UserCommand::List(args) => &args.output.data,
            UserCommand::Show(args)
            | UserCommand::Unban(args)
            | UserCommand::LiftShadowBan(args)
            | UserCommand::Passwords(args) => &args.output.data,
            UserCommand::Ban(args) => &args.user.output.data,
            UserCommand::Erase(args) => &args.user.output.data,
            UserCommand::Merge(args) => &args.output.data,
            UserCommand::Role(args) => &args.user.output.data,
            UserCommand::ShadowBan(args) => &args.user.output.data,
            UserCommand::Level(args) => &args.user.output.data,
            UserCommand::SetPassword(args) => &args.user.output.data,
            UserCommand::RevokePassword(args) => &args.user.output.data,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct UserList {
    #[arg(long)]
    pub site: String,
    /// List users after this id, for the next page.
    #[arg(long, value_name = "USER")]
    pub after: Option<String>,
    /// Most users to print.
    #[arg(long, default_value_t = 1_000)]
    pub limit: u32,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct UserOne {
    #[arg(long)]
    pub site: String,
    /// Id of the user on your site: the `sub` of the token.
    pub user: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct UserBan {
    #[command(flatten)]
    pub user: UserOne,
    /// How long the ban lasts [default: until you lift it].
    #[arg(long = "for", value_name = "SPAN")]
    pub time: Option<Span>,
    /// Reason that the user sees.
    #[arg(long, default_value = "")]
    pub reason: String,
    /// Ban the user's devices, too: nobody can sign in from them.
    #[arg(long)]
    pub devices: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UserShadow {
    #[command(flatten)]
    pub user: UserOne,
    /// How long the ban lasts [default: until you lift it].
    #[arg(long = "for", value_name = "SPAN")]
    pub time: Option<Span>,
    /// Reason for the record of the site.
    #[arg(long, default_value = "")]
    pub reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct UserSetPassword {
    #[command(flatten)]
    pub user: UserOne,
    /// Name of the password in the user's list.
    #[arg(long, default_value = "Operator")]
    pub name: String,
    /// Read the password from standard input.
    #[arg(long)]
    pub stdin: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UserRevokePassword {
    #[command(flatten)]
    pub user: UserOne,
    /// Number of the password, as `kith user passwords` prints it.
    pub number: u32,
}

#[derive(Debug, Args)]
pub(crate) struct UserLevel {
    #[command(flatten)]
    pub user: UserOne,
    #[arg(value_enum)]
    pub level: TrustLevel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrustLevel {
    New,
    Basic,
    Trusted,
    /// By age and activity.
    Auto,
}

#[derive(Debug, Args)]
pub(crate) struct UserErase {
    #[command(flatten)]
    pub user: UserOne,
    /// Keep the user's messages, without their name.
    #[arg(long)]
    pub keep_messages: bool,
    /// Confirm: erase the user for good.
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UserMerge {
    #[arg(long)]
    pub site: String,
    /// File with the guest's token, or - for standard input.
    #[arg(long, value_name = "FILE")]
    pub guest_token_file: PathBuf,
    /// Id of the account: the `sub` of its tokens.
    #[arg(value_name = "ACCOUNT")]
    pub account: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct UserRole {
    #[command(flatten)]
    pub user: UserOne,
    #[arg(value_enum)]
    pub role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    Member,
    /// Handles reports, mutes and bans members.
    Moderator,
    /// Moderates moderators, too, and changes the settings of the site.
    Admin,
}
