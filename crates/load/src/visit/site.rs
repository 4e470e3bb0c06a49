//! A site as a browser finds it: pages, their files, and how long each may be cached.

use std::time::Duration;

use super::Kind;

/// The result of one scan before the first visitor, so that visitors need not parse the files that they fetch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Site {
    /// A visit begins at the first one.
    pub(super) pages: Vec<Page>,
    pub(super) files: Vec<File>,
    /// The loader's file number.
    pub(super) loader: u16,
    /// The files that the loader requests.
    pub(super) shell: Vec<u16>,
    /// The address at which the page's own server signs tokens.
    pub(super) token: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) path: String,
    /// In the order of the page.
    pub(super) files: Vec<u16>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) caching: Caching,
}

/// The caching of a response in a private cache (RFC 9111).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Caching {
    /// None: it must not be stored.
    pub(super) fresh_for: Option<Duration>,
    /// The validator of a conditional request.
    pub(super) tag: Option<String>,
}

/// The references in a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Path and kind, in the order of the page, each once.
    pub(super) files: Vec<(String, Kind)>,
    /// Other pages of the same folder.
    pub(super) pages: Vec<String>,
    pub(super) token: Option<String>,
}

/// Parses the part of HTML that pages use when they name their files by absolute paths.
pub(super) fn found(path: &str, html: &str) -> Found {
    let mut found = Found::default();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    for tag in html.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        let own =
            |name| attribute(tag, name).filter(|value| value.starts_with('/') && !value.starts_with("//"));
        let name = tag.split(char::is_whitespace).next().unwrap_or_default();
        let file = match name {
            "link" if fetched(tag) => own("href").map(|path| (path, Kind::File)),
            "script" => own("src").map(|path| {
                let kind = if path.ends_with("/kith.js") { Kind::Loader } else { Kind::File };
                (path, kind)
            }),
            "img" => own("src").map(|path| (path, Kind::Avatar)),
            _ => None,
        };
        if let Some(file) = file
            && !found.files.contains(&file)
        {
            found.files.push(file);
        }
        if let Some(page) = own("href").filter(|page| name == "a" && page.starts_with(folder) && page != path)
            && !found.pages.contains(&page)
        {
            found.pages.push(page);
        }
        if let Some(token) = own("data-token-url") {
            found.token = Some(token);
        }
    }
    found
}

/// Whether a browser fetches this link: styles and the icon.
fn fetched(link: &str) -> bool {
    attribute(link, "rel").is_some_and(|rel| matches!(rel.as_str(), "stylesheet" | "icon"))
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let value = tag.match_indices(name).find_map(|(at, _)| {
        let (before, after) = (&tag[..at], &tag[at + name.len()..]);
        before.ends_with(char::is_whitespace).then(|| after.strip_prefix('=')).flatten()
    })?;
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let value = value[1..].split(quote).next()?.replace("&amp;", "&");
    value.chars().all(|c| c.is_ascii_graphic()).then_some(value)
}

/// The modules that a script of the widget loads, as absolute paths. For the loader: all that it names, as `/kith/…js`
/// or `kith/…js`. For others: only static imports (`from"./…js"`), because no visitor waits for modules that are loaded
/// when used.
pub(super) fn modules(path: &str, script: &str) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut modules = Vec::new();
    let mut before = "";
    for text in script.split(['"', '\'', '`']) {
        let at_once = ["from", "import"].iter().any(|word| before.trim_end().ends_with(word));
        before = text;
        let Some(stem) = text.strip_suffix(".js") else { continue };
        let named = stem.rsplit_once("/kith/").map(|(_, name)| name).or_else(|| stem.strip_prefix("kith/"));
        let module = match (stem.strip_prefix("./"), named) {
            (Some(name), _) if at_once => format!("{folder}/{name}.js"),
            (None, Some(name)) => format!("/kith/{name}.js"),
            _ => continue,
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
        if module.chars().all(plain) && module != path && !modules.contains(&module) {
            modules.push(module);
        }
    }
    modules
}

/// From the fields `Cache-Control` and `ETag` of a response.
pub(super) fn caching(cache_control: Option<&str>, etag: Option<String>) -> Caching {
    let control = cache_control.unwrap_or_default().to_ascii_lowercase();
    let mut fresh_for = Duration::ZERO;
    for directive in control.split(',').map(str::trim) {
        match directive.split_once('=') {
            None if directive == "no-store" => return Caching::default(),
            Some(("max-age", seconds)) => fresh_for = Duration::from_secs(seconds.parse().unwrap_or(0)),
            _ => {}
        }
    }
    Caching { fresh_for: Some(fresh_for), tag: etag }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGE: &str = "<!doctype html><html><head><link rel=\"icon\" href=\"/icon.svg\">\
        <link rel=\"stylesheet\" href=\"/style.css\"><link rel=\"next\" href=\"/2\">\
        <script async src=\"/kith.js\" data-site=\"demo\" data-token-url=\"/as/anna/kith-token\"></script>\
        <script src=\"https://elsewhere.example/x.js\"></script></head><body><img src='/a.svg' alt=\"\">\
        <a href=\"/as/anna/thread/1\">one</a><a href=\"/as/anna/\">here</a><a href=\"/as/tom/\">Tom</a>\
        <img class=\"face\" src=\"/a.svg\"><img src=\"//elsewhere.example/b.svg\"></body></html>";

    #[test]
    fn a_page_names_its_files_and_nothing_from_elsewhere() {
        let found = found("/as/anna/", PAGE);
        let file = |path: &str, kind| (path.to_owned(), kind);
        assert_eq!(
            found.files,
            [
                file("/icon.svg", Kind::File),
                file("/style.css", Kind::File),
                file("/kith.js", Kind::Loader),
                file("/a.svg", Kind::Avatar)
            ]
        );
        assert_eq!(found.pages, ["/as/anna/thread/1"]);
        assert_eq!(found.token.as_deref(), Some("/as/anna/kith-token"));
    }

    #[test]
    fn scripts_name_their_modules() {
        let loader = "late(`${e.server}/kith/client-Mj_1.js`),late(`${e.server}/kith/app-X.js`)";
        assert_eq!(modules("/kith.js", loader), ["/kith/client-Mj_1.js", "/kith/app-X.js"]);
        let loader = "p(`kith/client-Mj_1.js`),p(`kith/app-X.js`),p(`notkith/app-Y.js`)";
        assert_eq!(modules("/kith.js", loader), ["/kith/client-Mj_1.js", "/kith/app-X.js"]);
        assert_eq!(modules("/kith/app-X.js", "import{r}from\"./client-Dt.js\";"), ["/kith/client-Dt.js"]);
        assert_eq!(modules("/kith/app-X.js", "import \"./words.js\";a"), ["/kith/words.js"]);
        let none =
            "from'./app-X.js' from\"a b.js\" from './${x}.js' ()=>import(`./later.js`) later(`./last.js`)";
        assert_eq!(modules("/kith/app-X.js", none), Vec::<String>::new());
    }

    #[test]
    fn how_long_an_answer_may_be_kept() {
        let tag = Some("\"a\"".to_owned());
        let kept = caching(Some("public, max-age=31536000, immutable"), tag.clone());
        assert_eq!(kept, Caching { fresh_for: Some(Duration::from_secs(31_536_000)), tag: tag.clone() });
        assert_eq!(caching(Some("no-store"), tag), Caching::default());
        assert_eq!(caching(None, None).fresh_for, Some(Duration::ZERO));
    }

    proptest! {
        #[test]
        fn nothing_in_a_page_panics(text in "[<>a-z/\"'= .&é]{0,80}") {
            let _ = found("/x", &text);
            let _ = modules("/x.js", &text);
            let _ = caching(Some(&text), None);
        }
    }
}
