//! The arguments of `kith sticker`.

use clap::{Args, Subcommand};

use super::{DataFlag, Listing};

#[derive(Debug, Subcommand)]
pub(crate) enum StickerCommand {
    /// Add pictures (JPEG, PNG, GIF or WebP) to a set of stickers.
    ///
    /// Example: kith sticker add --site garden --set Bees wave.png="👋 Hello" thanks.png
    ///
    /// The text after = describes the sticker for screen readers, emails and search; default: the file name.
    /// Pictures are re-encoded without animation, at most 480 pixels wide or high. A site has at most 200 stickers.
    #[command(verbatim_doc_comment)]
    Add(StickerAdd),
    /// List all stickers of a site.
    List(StickerList),
    /// Remove stickers by their ids. Sent messages show the words of a removed sticker.
    Remove(StickerRemove),
}

impl StickerCommand {
    pub(crate) fn data(&self) -> &DataFlag {
        match self {
            StickerCommand::Add(args) => &args.output.data,
            StickerCommand::List(args) => &args.output.data,
            StickerCommand::Remove(args) => &args.data,
        }
    }

    /// The key of the site.
    pub(crate) fn site(&self) -> &str {
        match self {
            StickerCommand::Add(args) => &args.site,
            StickerCommand::List(args) => &args.site,
            StickerCommand::Remove(args) => &args.site,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct StickerAdd {
    #[arg(long)]
    pub site: String,
    /// Name of the set: stickers of one set are shown together.
    #[arg(long, value_name = "NAME")]
    pub set: String,
    /// Picture and its words: FILE or FILE=WORDS.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct StickerList {
    #[arg(long)]
    pub site: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct StickerRemove {
    #[arg(long)]
    pub site: String,
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    #[command(flatten)]
    pub data: DataFlag,
}
