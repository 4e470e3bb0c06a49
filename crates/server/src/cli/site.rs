//! The arguments of `kith site`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{DataFlag, Listing};
use crate::span::Span;

#[derive(Debug, Subcommand)]
pub(crate) enum SiteCommand {
    /// Add a site; prints its key, its secret (only this once) and the embed code.
    ///
    /// Example: kith site add garden --name "Garden forum" --origin https://garden.example
    #[command(verbatim_doc_comment)]
    Add(SiteAdd),
    /// List all sites.
    List(Listing),
    /// Show one site and its settings, without secrets.
    Show(SiteShow),
    /// Change a site: settings, name, mode, guests, origins. A running node applies the change within a second.
    ///
    /// Example: kith site set garden requests.on=true requests.per_day=10
    /// Example: kith site set garden --name "Garden" --origin https://garden.example --origin https://www.garden.example
    ///
    /// `kith site show garden` prints all settings. `requests=null` restores the defaults of `requests`.
    #[command(verbatim_doc_comment)]
    Set(SiteSet),
    /// Turn raid mode on or off: new members cannot start chats or write in rooms. Ends automatically.
    ///
    /// Example: kith site raid garden --for 30m
    #[command(verbatim_doc_comment)]
    Raid(SiteRaid),
    /// Test a text against the filters of the site.
    ///
    /// Example: kith site test-filter garden "cheap pills at www.pills.example"
    #[command(verbatim_doc_comment)]
    TestFilter(SiteTestFilter),
    /// Create a new secret; the old one stays valid for the overlap time.
    ///
    /// Example: kith site rotate-secret garden --overlap 24h
    ///
    /// With --overlap 0s the old secrets end now, and the sessions that they opened end, too.
    #[command(verbatim_doc_comment)]
    RotateSecret(SiteRotate),
    /// List, add and end the keys that sign the tokens of a site.
    #[command(subcommand)]
    Key(SiteKeyCommand),
    /// End sessions and refuse tokens signed until now. Members come back with new tokens.
    ///
    /// Example: kith site sign-out garden
    #[command(verbatim_doc_comment)]
    SignOut(SiteSignOut),
    /// Set the XMPP domain of a site, or show it. Without one, the site's key is its domain.
    ///
    /// Example: kith site domain garden garden.example
    #[command(verbatim_doc_comment)]
    Domain(SiteDomain),
    /// Delete a site with all its users and messages. This cannot be undone.
    Remove(SiteRemove),
}

impl SiteCommand {
    pub(crate) fn data(&self) -> &DataFlag {
        match self {
            SiteCommand::Add(args) => &args.output.data,
            SiteCommand::List(output) => &output.data,
            SiteCommand::Show(args) => &args.output.data,
            SiteCommand::Set(args) => &args.output.data,
            SiteCommand::Raid(args) => &args.data,
            SiteCommand::TestFilter(args) => &args.output.data,
            SiteCommand::RotateSecret(args) => &args.output.data,
            SiteCommand::Key(SiteKeyCommand::List(args)) => &args.output.data,
            SiteCommand::Key(SiteKeyCommand::Add(args)) => &args.data,
            SiteCommand::Key(SiteKeyCommand::End(args)) => &args.data,
            SiteCommand::SignOut(args) => &args.data,
            SiteCommand::Domain(args) => &args.data,
            SiteCommand::Remove(args) => &args.data,
        }
    }

    /// The site that exists already; None: the command concerns a new site, or all sites.
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            SiteCommand::Add(_) | SiteCommand::List(_) => None,
            SiteCommand::Show(args) => Some(&args.key),
            SiteCommand::Set(args) => Some(&args.key),
            SiteCommand::Raid(args) => Some(&args.key),
            SiteCommand::TestFilter(args) => Some(&args.key),
            SiteCommand::RotateSecret(args) => Some(&args.key),
            SiteCommand::Key(SiteKeyCommand::List(args)) => Some(&args.key),
            SiteCommand::Key(SiteKeyCommand::Add(args)) => Some(&args.key),
            SiteCommand::Key(SiteKeyCommand::End(args)) => Some(&args.key),
            SiteCommand::SignOut(args) => Some(&args.key),
            SiteCommand::Domain(args) => Some(&args.key),
            SiteCommand::Remove(args) => Some(&args.key),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SiteAdd {
    /// Public key of the site, 1 to 64 of a-z, 0-9 and -
    pub key: String,
    /// Name that people see [default: the key].
    #[arg(long)]
    pub name: Option<String>,
    /// Whether all members see each other, or only contacts.
    #[arg(long, value_enum, default_value = "open")]
    pub mode: SiteMode,
    /// Allow visitors without an account (guests).
    #[arg(long)]
    pub guests: bool,
    /// Origin whose pages may connect, for example https://garden.example. Repeat for several; * allows any.
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub origins: Vec<String>,
    /// Address of the node for browsers, used in the embed code [env: KITH_PUBLIC_URL].
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// In a cluster with several slots: the slot, which cannot be changed later [default: by the key].
    #[arg(long, value_name = "N")]
    pub slot: Option<u8>,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SiteMode {
    /// All members can see and message each other.
    Open,
    /// Only contacts can see and message each other.
    Contacts,
}

#[derive(Debug, Args)]
pub(crate) struct SiteShow {
    pub key: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct SiteSet {
    pub key: String,
    /// A setting and its value, for example requests.on=true
    #[arg(
        required_unless_present_any = ["name", "mode", "guests", "origins", "public_url"],
        value_name = "SETTING=VALUE"
    )]
    pub settings: Vec<String>,
    /// Name that people see.
    #[arg(long)]
    pub name: Option<String>,
    /// Whether all members see each other, or only contacts.
    #[arg(long, value_enum)]
    pub mode: Option<SiteMode>,
    /// Allow visitors without an account (guests).
    #[arg(long, value_name = "true|false")]
    pub guests: Option<bool>,
    /// Origins whose pages may connect; replaces the present list. `none` allows only the server's own pages.
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub origins: Vec<String>,
    /// Address of the node for browsers, used in the embed code. `none` uses the configuration of the server.
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct SiteDomain {
    pub key: String,
    /// Host name in lower case, for example garden.example
    #[arg(value_name = "DOMAIN")]
    pub domain: Option<String>,
    /// Remove the domain: the site's key is its domain again.
    #[arg(long, conflicts_with = "domain")]
    pub clear: bool,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct SiteRaid {
    pub key: String,
    /// How long raid mode lasts, a week at most.
    #[arg(long = "for", default_value = "30m", value_name = "SPAN")]
    pub time: Span,
    /// Turn raid mode off now.
    #[arg(long)]
    pub end: bool,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct SiteTestFilter {
    pub key: String,
    pub text: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct SiteRotate {
    pub key: String,
    /// How long the old secret stays valid.
    #[arg(long, default_value = "24h", value_name = "SPAN")]
    pub overlap: Span,
    /// Replace the server's key for guests' tokens instead of the site's secret.
    #[arg(long)]
    pub guests: bool,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SiteKeyCommand {
    /// List the names, kinds and ends of a site's keys. Never prints a key.
    List(SiteShow),
    /// Register a public key: P-256 for ES256, Ed25519 for EdDSA. The private key stays on the site's server.
    ///
    /// Example: kith site key add garden garden.pub.pem --kid 2026-11
    #[command(verbatim_doc_comment)]
    Add(SiteKeyAdd),
    /// End a key. The node refuses tokens that it signed and ends their sessions.
    ///
    /// Example: kith site key end garden 2026-08 --after 24h
    #[command(verbatim_doc_comment)]
    End(SiteKeyEnd),
}

#[derive(Debug, Args)]
pub(crate) struct SiteKeyAdd {
    pub key: String,
    /// A public key in PEM.
    pub file: PathBuf,
    /// Name of the key in token headers (`kid`) [default: the first digits of its SHA-256].
    #[arg(long)]
    pub kid: Option<String>,
    /// End all other keys after this time [default: keep them].
    #[arg(long, value_name = "SPAN")]
    pub overlap: Option<Span>,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct SiteKeyEnd {
    pub key: String,
    pub kid: String,
    /// Time until the key ends.
    #[arg(long, default_value = "0s", value_name = "SPAN")]
    pub after: Span,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct SiteSignOut {
    pub key: String,
    /// Sign out only sessions whose token this key signed [default: all members].
    #[arg(long, conflicts_with_all = ["guests", "everybody"])]
    pub kid: Option<String>,
    /// Sign out guests. They come back as new guests.
    #[arg(long, conflicts_with = "everybody")]
    pub guests: bool,
    /// Sign out members and guests.
    #[arg(long)]
    pub everybody: bool,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct SiteRemove {
    pub key: String,
    /// Confirm: delete all users and messages of the site.
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub data: DataFlag,
}
