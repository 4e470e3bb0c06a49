//! `kith sticker`: administration of a site's stickers.

use std::io::Read;
use std::path::Path;

use chat::{NewSticker, Site, Sticker, StickerId, StickerStore};
use serde_json::{Value, json};
use web::NotMade;

use crate::cli::{StickerAdd, StickerCommand, StickerList, StickerRemove};
use crate::config::Loaded;
use crate::data_dir::{self, wait};
use crate::pictures::Maker;
use crate::trouble::{Outcome, Trouble};
use crate::{print_json, print_with};

/// A longer file is not read.
const FILE_BYTES: u64 = 16 << 20;

/// Runs one command.
pub(crate) fn run(command: &StickerCommand, loaded: &Loaded) -> Outcome {
    let (store, site) = data_dir::open_site(loaded, None, command.site())?;
    match command {
        StickerCommand::Add(args) => add(args, &site, &*store),
        StickerCommand::List(args) => list(args, &site, &*store),
        StickerCommand::Remove(args) => remove(args, &site, &*store),
    }
}

/// All files are checked before the first is added.
fn add(args: &StickerAdd, site: &Site, store: &impl StickerStore) -> Outcome {
    let made: Vec<NewSticker> =
        args.files.iter().map(|file| made_of(file, &args.set, site)).collect::<Outcome<_>>()?;
    let added: Vec<Sticker> = made.iter().map(|new| new.sticker.clone()).collect();
    for new in made {
        let words = new.sticker.words.clone();
        if !wait(|done| store.add_sticker(new, done))? {
            return Err(Trouble::new(format!("{words} was not added"))
                .because(chat::NoSticker::TooMany)
                .remedy(format!("remove some first: kith sticker list --site {}", site.key)));
        }
    }
    show(&added, args.output.json)
}

/// `FILE`, or `FILE=WORDS`: the default text is the file's name.
fn made_of(argument: &str, set: &str, site: &Site) -> Outcome<NewSticker> {
    let (path, words) = match argument.split_once('=') {
        Some((path, words)) => (path, words.to_owned()),
        None => (argument, name_of(argument)),
    };
    let failed = |why: String| Trouble::new(format!("cannot use {path} as a sticker")).because(why);
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|why| failed(why.to_string()))?;
    file.take(FILE_BYTES).read_to_end(&mut bytes).map_err(|why| failed(why.to_string()))?;
    web::new_sticker(&Maker, site.id, set, &words, &bytes, crate::now()).map_err(|why| match why {
        NotMade::Wrong(why) => failed(why),
        NotMade::Failed(why) => failed(why.to_string()),
    })
}

/// The text for `good-morning.png` is "good morning".
fn name_of(path: &str) -> String {
    let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    stem.replace(['-', '_'], " ")
}

fn list(args: &StickerList, site: &Site, store: &impl StickerStore) -> Outcome {
    show(&wait(|done| store.stickers(site.id, done))?, args.output.json)
}

fn remove(args: &StickerRemove, site: &Site, store: &impl StickerStore) -> Outcome {
    for id in &args.ids {
        let number = u64::from_str_radix(id, 16).ok();
        let is_gone = match number.map(|number| StickerId { site: site.id, number }) {
            Some(id) => wait(|done| store.remove_sticker(id, done))?,
            None => false,
        };
        if !is_gone {
            return Err(Trouble::new(format!("the site {} has no sticker {id}", site.key))
                .remedy(format!("see `kith sticker list --site {}`", site.key)));
        }
    }
    print_with(|out| writeln!(out, "removed; sent messages show the words instead"))
}

fn show(stickers: &[Sticker], json: bool) -> Outcome {
    if json {
        return print_json(&stickers.iter().map(as_json).collect::<Vec<_>>().into());
    }
    print_with(|out| {
        stickers
            .iter()
            .try_for_each(|one| writeln!(out, "{:016x}  {:<20} {}", one.id.number, one.series, one.words))
    })
}

fn as_json(sticker: &Sticker) -> Value {
    json!({
        "id": format!("{:016x}", sticker.id.number),
        "set": sticker.series,
        "words": sticker.words,
        "type": sticker.kind.name(),
        "width": sticker.width,
        "height": sticker.height,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sticker_without_text_gets_the_name_of_its_file() {
        for (path, words) in [("a/good-morning.png", "good morning"), ("👋.webp", "👋"), ("x_y", "x y")] {
            assert_eq!(name_of(path), words);
        }
    }
}
