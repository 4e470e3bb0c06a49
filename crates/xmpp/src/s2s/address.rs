//! Addresses of stanzas on their way to another server. The session of a remote user has a local address inside of this gateway.

use chat::Sub;
use xmpp_proto::jid::Jid;
use xmpp_proto::xml::escape_attribute;

/// The address of a remote user's session inside: no local user has such an id, and no client can bind it.
pub(super) fn inside(user: &Sub, domain: &str, resource: &str) -> Option<Jid> {
    Jid::of(Some(&user.address_local()), domain, Some(resource)).ok()
}

/// A stanza of this gateway for a remote user: its `to` becomes `outside`, unless the stanza has another one than an address inside.
/// None: its `from` is missing or of another domain, as in presence of the user's own sessions, so it must not go to another server.
pub(super) fn readdressed(stanza: &[u8], inside: &Jid, outside: &str) -> Option<Vec<u8>> {
    let head = head_end(stanza)?;
    let mut out = Vec::with_capacity(stanza.len() + outside.len() + 8);
    let mut has = (false, false);
    let mut at = 0;
    while let Some((name, value, whole)) = next_attribute(&stanza[..head], &mut at) {
        if name == b"from" {
            let from = std::str::from_utf8(value).ok().map(plain).and_then(|from| Jid::parse(&from).ok());
            has.0 = from.is_some_and(|from| from.domain() == inside.domain());
        }
        if name != b"to" {
            out.extend_from_slice(whole);
            continue;
        }
        let is_inside = std::str::from_utf8(value).is_ok_and(|to| {
            let to = plain(to);
            to == inside.bare() || to == inside.as_str()
        });
        if !is_inside {
            out.extend_from_slice(whole);
            has.1 = true;
        }
    }
    let name_end = stanza.iter().position(|byte| matches!(byte, b' ' | b'/' | b'>'))?;
    let mut whole = stanza[..name_end].to_vec();
    whole.extend_from_slice(&out);
    if !has.1 {
        whole.extend_from_slice(b" to='");
        escape_attribute(&mut whole, outside);
        whole.push(b'\'');
    }
    whole.extend_from_slice(&stanza[head..]);
    has.0.then_some(whole)
}

/// The value of an attribute, of those characters that addresses can have.
fn plain(value: &str) -> String {
    value
        .replace("&apos;", "'")
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// Where the attributes of the first tag end.
fn head_end(stanza: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in stanza.iter().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(*byte),
            (None, b'>') => return Some(if at > 0 && stanza[at - 1] == b'/' { at - 1 } else { at }),
            _ => {}
        }
    }
    None
}

/// The next attribute of a start tag that this gateway has written: ` name='value'`.
fn next_attribute<'a>(head: &'a [u8], at: &mut usize) -> Option<(&'a [u8], &'a [u8], &'a [u8])> {
    let start = *at + head[*at..].iter().position(|byte| *byte == b' ')?;
    let equals = start + head[start..].iter().position(|byte| *byte == b'=')?;
    let quote = *head.get(equals + 1)?;
    let end = equals + 2 + head[equals + 2..].iter().position(|byte| *byte == quote)?;
    *at = end + 1;
    Some((&head[start + 1..equals], &head[equals + 2..end], &head[start..=end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_inside_is_replaced() {
        let user = Sub::remote("o'hara@b.example").unwrap();
        let inside = inside(&user, "a.example", "link").unwrap();
        assert_eq!(inside.bare(), "xmpp\\3ao\\27hara\\40b.example@a.example");
        let out = |xml: &str| {
            let out = readdressed(xml.as_bytes(), &inside, "o'hara@b.example")
                .map(|out| String::from_utf8(out).unwrap());
            out.unwrap_or_default()
        };
        let expected =
            "<message from='anna@a.example' id='1' to='o&apos;hara@b.example'><body to='x'/></message>";
        for xml in [
            "<message to='xmpp\\3ao\\27hara\\40b.example@a.example' from='anna@a.example' id='1'><body to='x'/></message>",
            "<message from='anna@a.example' to='xmpp\\3ao\\27hara\\40b.example@a.example/link' id='1'><body to='x'/></message>",
            "<message from='anna@a.example' id='1'><body to='x'/></message>",
        ] {
            assert_eq!(out(xml), expected, "{xml}");
        }
        assert_eq!(out("<iq from='a.example'/>"), "<iq from='a.example' to='o&apos;hara@b.example'/>");
        let full = "<iq from='a.example' to='o&apos;hara@b.example/x'/>";
        assert_eq!(out(full), full);
        let odd = "<iq id='a > b' from='anna@a.example/x>y'/>";
        assert_eq!(out(odd), "<iq id='a > b' from='anna@a.example/x>y' to='o&apos;hara@b.example'/>");
        assert_eq!(out("<presence from='o&apos;hara@b.example/x' to='a'/>"), "", "the user's own session");
        assert_eq!(out("<presence from='anna@aa.example'/>"), "");
        assert_eq!(out("<iq type='result'/>"), "");
        assert_eq!(out("<iq"), "");
    }
}
