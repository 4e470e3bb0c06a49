//! XMPP addresses (RFC 7622), normalised and checked when they are made.

use std::borrow::Cow;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

/// RFC 7622 §3.1: most bytes of each part.
const PART_BYTES: usize = 1023;

/// An address: `local@domain/resource`, where local and resource are optional.
///
/// Local part and resource are prepared with the profiles of RFC 6122 (Nodeprep, Resourceprep), which
/// most servers use, and not with those of PRECIS (RFC 7622 §3.3 and §3.4). Two addresses are equal if
/// their prepared strings are equal. It is one string and two numbers.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Jid {
    text: Box<str>,
    /// Where `@` is; 0 without a local part, which cannot be empty.
    at: u16,
    /// Where `/` is; 0 without a resource.
    slash: u16,
}

/// The reason why a string is not an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JidError {
    #[error("the local part is empty, too long, or has a forbidden character")]
    Local,
    #[error("the domain is neither a domain name nor an IP address")]
    Domain,
    #[error("the resource is empty, too long, or has a forbidden character")]
    Resource,
}

impl Jid {
    /// RFC 7622 §3.1: the first `/` begins the resource, and an `@` before it ends the local part.
    pub fn parse(text: &str) -> Result<Jid, JidError> {
        let (bare, resource) = match text.split_once('/') {
            Some((bare, resource)) => (bare, Some(resource)),
            None => (text, None),
        };
        let (local, domain) = match bare.split_once('@') {
            Some((local, domain)) => (Some(local), domain),
            None => (None, bare),
        };
        Jid::of(local, domain, resource)
    }

    pub fn of(local: Option<&str>, domain: &str, resource: Option<&str>) -> Result<Jid, JidError> {
        let local = local.map(prepare_local).transpose()?;
        let domain = prepare_domain(domain)?;
        let resource = resource.map(prepare_resource).transpose()?;
        Ok(Jid::join(local.as_deref(), &domain, resource.as_deref()))
    }

    fn join(local: Option<&str>, domain: &str, resource: Option<&str>) -> Jid {
        let bytes = local.map_or(0, |local| local.len() + 1) + domain.len();
        let mut text = String::with_capacity(bytes + resource.map_or(0, |resource| 1 + resource.len()));
        if let Some(local) = local {
            text.push_str(local);
            text.push('@');
        }
        text.push_str(domain);
        if let Some(resource) = resource {
            text.push('/');
            text.push_str(resource);
        }
        let offset = |bytes: usize| u16::try_from(bytes).expect("two parts have at most 2047 bytes");
        Jid {
            at: offset(local.map_or(0, str::len)),
            slash: if resource.is_some() { offset(bytes) } else { 0 },
            text: text.into_boxed_str(),
        }
    }

    pub fn local(&self) -> Option<&str> {
        (self.at > 0).then(|| &self.text[..usize::from(self.at)])
    }

    pub fn domain(&self) -> &str {
        let start = if self.at > 0 { usize::from(self.at) + 1 } else { 0 };
        &self.bare()[start..]
    }

    pub fn resource(&self) -> Option<&str> {
        (self.slash > 0).then(|| &self.text[usize::from(self.slash) + 1..])
    }

    /// The address without its resource.
    pub fn bare(&self) -> &str {
        if self.slash > 0 { &self.text[..usize::from(self.slash)] } else { &self.text }
    }

    pub fn to_bare(&self) -> Jid {
        Jid { text: self.bare().into(), at: self.at, slash: 0 }
    }

    /// The same account or room with this resource, in place of any that it had.
    pub fn with_resource(&self, resource: &str) -> Result<Jid, JidError> {
        let resource = prepare_resource(resource)?;
        Ok(Jid::join(self.local(), self.domain(), Some(&resource)))
    }

    pub fn is_bare(&self) -> bool {
        self.slash == 0
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Jid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Jid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jid({})", self.text)
    }
}

impl std::str::FromStr for Jid {
    type Err = JidError;

    fn from_str(text: &str) -> Result<Jid, JidError> {
        Jid::parse(text)
    }
}

fn prepare_local(local: &str) -> Result<Cow<'_, str>, JidError> {
    // Most local parts are lower case ASCII, which every step of Nodeprep leaves as it is.
    let local = if local.bytes().all(is_plain) {
        Cow::Borrowed(local)
    } else {
        // A part of 1,023 bytes cannot come from a much longer one, so a long one is not worth the work.
        bounded(local, 4 * PART_BYTES).ok_or(JidError::Local)?;
        stable(local, stringprep::nodeprep).ok_or(JidError::Local)?
    };
    within(local).ok_or(JidError::Local)
}

fn prepare_resource(resource: &str) -> Result<Cow<'_, str>, JidError> {
    bounded(resource, 4 * PART_BYTES).ok_or(JidError::Resource)?;
    // The profile has its own fast path for printable ASCII.
    stable(resource, stringprep::resourceprep).and_then(within).ok_or(JidError::Resource)
}

/// RFC 7622 §3.2: an IP literal, an IPv4 address, or a domain name of NR-LDH labels and U-labels.
///
/// Names outside ASCII are mapped by UTS 46, as IDNA 2008 requires, and not by Nameprep, which would make the domain
/// `strasse.example` of `straße.example`.
fn prepare_domain(domain: &str) -> Result<Cow<'_, str>, JidError> {
    // RFC 7622 §3.2: a final dot is not part of the address.
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    if let Some(literal) = domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr = literal.parse().map_err(|_| JidError::Domain)?;
        return Ok(Cow::Owned(format!("[{address}]")));
    }
    if domain.bytes().all(is_lower_ldh) && !domain.contains("--") {
        return if is_ascii_domain(domain) { Ok(Cow::Borrowed(domain)) } else { Err(JidError::Domain) };
    }
    bounded(domain, PART_BYTES).ok_or(JidError::Domain)?;
    let idna = Uts46::new();
    let (mapped, valid) = idna.to_unicode(domain.as_bytes(), AsciiDenyList::STD3, Hyphens::Check);
    valid.map_err(|_| JidError::Domain)?;
    let fine = if mapped.bytes().all(is_lower_ldh) {
        is_ascii_domain(&mapped)
    } else {
        idna.to_ascii(mapped.as_bytes(), AsciiDenyList::STD3, Hyphens::Check, DnsLength::Verify).is_ok()
    };
    if fine { within(Cow::Owned(mapped.into_owned())).ok_or(JidError::Domain) } else { Err(JidError::Domain) }
}

fn is_lower_ldh(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.')
}

fn is_ascii_domain(domain: &str) -> bool {
    let is_label =
        |label: &str| (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-');
    // The last label of a domain name is not a number, so no name looks like a wrong IPv4 address.
    let numeric =
        domain.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    domain.len() <= 253 && domain.split('.').all(is_label) && (!numeric || domain.parse::<Ipv4Addr>().is_ok())
}

/// Nodeprep leaves these as they are.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && !byte.is_ascii_uppercase() && !b"\"&'/:<>@".contains(&byte)
}

fn bounded(part: &str, bytes: usize) -> Option<()> {
    (part.len() <= bytes).then_some(())
}

fn within(part: Cow<'_, str>) -> Option<Cow<'_, str>> {
    (1..=PART_BYTES).contains(&part.len()).then_some(part)
}

/// Prepares a part, and refuses it if a second preparation changed it: a few characters map to others that map again.
/// Otherwise an address that we write would come back as a different one.
fn stable<'a>(
    part: &'a str,
    profile: fn(&str) -> Result<Cow<'_, str>, stringprep::Error>,
) -> Option<Cow<'a, str>> {
    let prepared = profile(part).ok()?;
    if let Cow::Owned(prepared) = &prepared
        && profile(prepared).ok()? != prepared.as_str()
    {
        return None;
    }
    Some(prepared)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (Option<String>, String, Option<String>) {
        let jid = Jid::parse(text).unwrap();
        (jid.local().map(str::to_owned), jid.domain().to_owned(), jid.resource().map(str::to_owned))
    }

    #[test]
    fn an_address_has_up_to_three_parts() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parts("a@b.example/c"), (some("a"), "b.example".into(), some("c")));
        assert_eq!(parts("b.example"), (None, "b.example".into(), None));
        assert_eq!(parts("b.example/c@d/e"), (None, "b.example".into(), some("c@d/e")));
        assert_eq!(parts("a@b.example/c d"), (some("a"), "b.example".into(), some("c d")));
    }

    #[test]
    fn parts_are_normalised() {
        let normal = |text: &str| Jid::parse(text).unwrap().to_string();
        assert_eq!(normal("JuLiet@Example.COM./Balcony"), "juliet@example.com/Balcony");
        assert_eq!(normal("ΑΒΓ@example.com"), "αβγ@example.com");
        assert_eq!(normal("a@BÜCHER.example"), "a@bücher.example");
        assert_eq!(normal("a@xn--bcher-kva.example"), "a@bücher.example");
        assert_eq!(normal("a@[2001:DB8:0::1]/x"), "a@[2001:db8::1]/x");
        assert_eq!(normal("a@192.0.2.1"), "a@192.0.2.1");
        assert_eq!(normal("a@example.com/\u{2163}"), "a@example.com/IV");
    }

    #[test]
    fn wrong_parts_are_named() {
        for (text, error) in [
            ("", JidError::Domain),
            ("@example.com", JidError::Local),
            ("a@", JidError::Domain),
            ("a@example.com/", JidError::Resource),
            ("a b@example.com", JidError::Local),
            ("a\"b@example.com", JidError::Local),
            ("a@b@example.com", JidError::Domain),
            ("a@exa mple.com", JidError::Domain),
            ("a@exa_mple.com", JidError::Domain),
            ("a@-x.example", JidError::Domain),
            ("a@x..example", JidError::Domain),
            ("a@example.com..", JidError::Domain),
            ("a@192.0.2.256", JidError::Domain),
            ("a@[::1", JidError::Domain),
            ("a@xn--zz.example", JidError::Domain),
            ("a@example.com/\u{7}", JidError::Resource),
        ] {
            assert_eq!(Jid::parse(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn each_part_has_at_most_1023_bytes() {
        let long = "a".repeat(1023);
        let jid = Jid::of(Some(&long), "b.example", Some(&long)).unwrap();
        assert_eq!((jid.local(), jid.resource()), (Some(&*long), Some(&*long)));
        let longer = "a".repeat(1024);
        assert_eq!(Jid::of(Some(&longer), "b.example", None), Err(JidError::Local));
        assert_eq!(Jid::of(None, "b.example", Some(&longer)), Err(JidError::Resource));
        assert_eq!(Jid::of(None, &longer, None), Err(JidError::Domain));
    }

    #[test]
    fn resources_are_added_and_removed() {
        let jid = Jid::parse("a@b.example/c").unwrap();
        assert_eq!(jid.bare(), "a@b.example");
        assert_eq!(jid.to_bare(), Jid::parse("a@b.example").unwrap());
        assert!(jid.to_bare().is_bare() && !jid.is_bare());
        assert_eq!(jid.with_resource("d").unwrap().as_str(), "a@b.example/d");
        assert_eq!(jid.with_resource(""), Err(JidError::Resource));
    }

    #[test]
    fn the_fast_path_of_local_parts_agrees_with_nodeprep() {
        for byte in 0..=127u8 {
            let text = char::from(byte).to_string();
            let prepared = stringprep::nodeprep(&text);
            if is_plain(byte) {
                assert_eq!(prepared.unwrap(), text);
            }
        }
    }
}
