//! Components of the operator (XEP-0114): the file that names them.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use ::xmpp::Component;
use xmpp_proto::jid::Jid;

use crate::config::Xmpp;
use crate::trouble::{Outcome, Trouble};

/// Usual for components; XEP-0114 leaves the port open.
const PORT: u16 = 5347;
/// The connection is not encrypted and shows a hash of the secret, so nobody may guess it.
const LEAST_SECRET: usize = 16;
const MOST: usize = 1_000;

pub(crate) type Components = HashMap<Box<str>, Arc<Component>>;

/// The addresses of the listener; `auto` is this machine alone.
pub(crate) fn addresses(xmpp: &Xmpp) -> Outcome<Vec<SocketAddr>> {
    let addresses = crate::xmpp::addresses("xmpp.component_listen", &xmpp.component_listen)?;
    Ok(addresses.unwrap_or_else(|| vec![SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))]))
}

/// Reads `xmpp.components`. Empty without a listener.
pub(crate) fn read(xmpp: &Xmpp) -> Outcome<Components> {
    if addresses(xmpp)?.is_empty() {
        return Ok(HashMap::new());
    }
    if xmpp.components.is_empty() {
        return Err(Trouble::new("xmpp.component_listen is set, but no component is named")
            .remedy("name a file with a line `HOST SECRET` for each component in xmpp.components"));
    }
    let text = std::fs::read_to_string(Path::new(&xmpp.components)).map_err(|error| {
        Trouble::new(format!("cannot read xmpp.components, {}", xmpp.components)).because(error)
    })?;
    parse(&text)
}

/// Each line: the host, the secret, and perhaps the keys of the sites, separated by commas. Secrets stay out of the troubles.
fn parse(text: &str) -> Outcome<Components> {
    let mut components = Components::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |why: &str| {
            Trouble::new(format!("line {} of xmpp.components {why}", number + 1))
                .remedy("write `HOST SECRET` for all sites, or `HOST SECRET SITE,SITE` for some")
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        let (host, secret, sites) = match words[..] {
            [host, secret] => (host, secret, None),
            [host, secret, sites] => (host, secret, Some(sites.split(',').map(Box::from).collect())),
            _ => return Err(wrong("has not two or three words")),
        };
        let host = Jid::parse(host).ok().filter(|jid| jid.local().is_none() && jid.is_bare());
        let host = host.ok_or_else(|| wrong("does not begin with a domain"))?;
        if secret.len() < LEAST_SECRET {
            return Err(wrong(&format!("has a secret with fewer than {LEAST_SECRET} characters")));
        }
        let component = Arc::new(Component { secret: secret.into(), sites });
        if components.insert(host.domain().into(), component).is_some() {
            return Err(wrong("names a host again"));
        }
        if components.len() > MOST {
            return Err(wrong(&format!("is the component beyond {MOST}")));
        }
    }
    Ok(components)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_host_a_secret_and_perhaps_sites() {
        let text = "# bots\nBot.example 0123456789abcdef garden,forum # of two sites\n\nirc.example 0123456789ABCDEF\n";
        let found = parse(text).expect("no mistake");
        assert_eq!(found.len(), 2);
        let bot = &found["bot.example"];
        assert_eq!(&*bot.secret, "0123456789abcdef");
        assert_eq!(bot.sites.as_deref(), Some(&["garden".into(), "forum".into()][..]));
        assert_eq!(found["irc.example"].sites, None);
        assert!(!format!("{bot:?}").contains("0123"), "the secret stays out of logs");
    }

    #[test]
    fn mistakes_name_the_line_and_no_secret() {
        let long = "0123456789abcdef";
        for (text, expected) in [
            ("bot.example".to_owned(), "line 1"),
            (format!("\nbot.example {long} a, b"), "line 2"),
            ("bot.example short".into(), "fewer than 16"),
            (format!("me@bot.example {long}"), "domain"),
            (format!("bot.example {long}\nBOT.example {long}"), "again"),
        ] {
            let trouble = parse(&text).expect_err(&text).to_string();
            assert!(trouble.contains(expected) && !trouble.contains(long), "{trouble}");
        }
    }

    #[test]
    fn a_listener_without_components_is_a_mistake() {
        let mut xmpp = Xmpp::default();
        assert!(addresses(&xmpp).expect("no mistake").is_empty() && read(&xmpp).expect("none").is_empty());
        xmpp.component_listen = "auto".into();
        assert_eq!(addresses(&xmpp).expect("no mistake"), ["127.0.0.1:5347".parse().expect("an address")]);
        assert!(read(&xmpp).expect_err("no file").to_string().contains("xmpp.components"));
    }
}
