//! Links in texts.

/// Whether readers would recognise an address in the text: a scheme, `www.`, or a name with a well-known
/// ending.
pub fn has_link(body: &str) -> bool {
    links(&body.to_lowercase()).next().is_some()
}

/// The hosts of the links in a lower-case text.
pub(crate) fn links(body: &str) -> impl Iterator<Item = &str> {
    body.split(|c: char| c.is_whitespace() || "()[]<>{}\"'`,;|*_~".contains(c)).filter(is_link).map(host_of)
}

fn is_link(word: &&str) -> bool {
    ["://", "www.", "mailto:", "hxxp"].iter().any(|mark| word.contains(mark)) || is_address(word)
}

fn host_of(word: &str) -> &str {
    let word = word.split_once("://").map_or(word, |(_, rest)| rest).trim_start_matches("mailto:");
    let end = word.find(['/', '?', '#']).unwrap_or(word.len());
    let host = word[..end].rsplit('@').next().unwrap_or_default();
    host.split(':').next().unwrap_or_default().trim_end_matches(['.', '!'])
}

/// Endings that make a name an address even without a scheme and a path.
const ENDINGS: [&str; 32] = [
    "com", "net", "org", "info", "biz", "io", "tv", "cc", "ws", "gg", "xyz", "top", "site", "online", "club",
    "shop", "store", "app", "link", "click", "vip", "icu", "ru", "cn", "de", "uk", "eu", "fr", "nl", "pl",
    "br", "us",
];

/// `name.ending` with a well-known ending, or `name.anything/path`.
fn is_address(word: &str) -> bool {
    let end = word.find(['/', '?', '#', ':']).unwrap_or(word.len());
    let (host, rest) = word.split_at(end);
    let host = host.rsplit('@').next().unwrap_or_default().trim_end_matches(['.', '!']);
    let Some((name, ending)) = host.rsplit_once('.') else { return false };
    let is_host =
        name.ends_with(char::is_alphanumeric) && ending.len() > 1 && ending.chars().all(char::is_alphabetic);
    is_host && (ENDINGS.contains(&ending) || rest.len() > 1 && rest.starts_with('/'))
}
