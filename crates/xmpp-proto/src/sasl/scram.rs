//! The server's side of SCRAM (RFC 5802, RFC 7677), with and without channel binding.

use std::fmt;
use std::num::NonZeroU32;

use ring::{digest, hmac, pbkdf2};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::{ChannelBinding, Mechanism, SaslError, decode, encode};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScramHash {
    Sha1,
    Sha256,
}

impl ScramHash {
    /// Bytes of a hash, and of each key.
    pub fn bytes(self) -> usize {
        match self {
            ScramHash::Sha1 => digest::SHA1_OUTPUT_LEN,
            ScramHash::Sha256 => digest::SHA256_OUTPUT_LEN,
        }
    }

    pub(super) fn digest(self, data: &[u8]) -> digest::Digest {
        let algorithm = match self {
            ScramHash::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            ScramHash::Sha256 => &digest::SHA256,
        };
        digest::digest(algorithm, data)
    }

    fn hmac(self, key: &[u8], data: &[u8]) -> hmac::Tag {
        let algorithm = match self {
            ScramHash::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            ScramHash::Sha256 => hmac::HMAC_SHA256,
        };
        hmac::sign(&hmac::Key::new(algorithm, key), data)
    }
}

/// RFC 5802 §3: the stored form of a password. A server cannot use it to sign in at another server.
#[derive(Clone)]
pub struct ScramKeys {
    hash: ScramHash,
    /// Both keys use the first [`ScramHash::bytes`].
    stored: [u8; 32],
    server: [u8; 32],
}

impl ScramKeys {
    /// Makes the keys of a password, which takes as long as the iterations. None: SASLprep forbids the password.
    pub fn derive(hash: ScramHash, password: &str, salt: &[u8], iterations: NonZeroU32) -> Option<ScramKeys> {
        let password = stringprep::saslprep(password).ok().filter(|password| !password.is_empty())?;
        let algorithm = match hash {
            ScramHash::Sha1 => pbkdf2::PBKDF2_HMAC_SHA1,
            ScramHash::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
        };
        let mut salted = [0; 32];
        let salted = &mut salted[..hash.bytes()];
        pbkdf2::derive(algorithm, iterations, salt, password.as_bytes(), salted);
        let client = hash.hmac(salted, b"Client Key");
        let server = hash.hmac(salted, b"Server Key");
        ScramKeys::of(hash, hash.digest(client.as_ref()).as_ref(), server.as_ref())
    }

    /// Keys from a store. None: one has the wrong length.
    pub fn of(hash: ScramHash, stored: &[u8], server: &[u8]) -> Option<ScramKeys> {
        if stored.len() != hash.bytes() || server.len() != hash.bytes() {
            return None;
        }
        let mut keys = ScramKeys { hash, stored: [0; 32], server: [0; 32] };
        keys.stored[..hash.bytes()].copy_from_slice(stored);
        keys.server[..hash.bytes()].copy_from_slice(server);
        Some(keys)
    }

    pub fn hash(&self) -> ScramHash {
        self.hash
    }

    pub fn stored_key(&self) -> &[u8] {
        &self.stored[..self.hash.bytes()]
    }

    pub fn server_key(&self) -> &[u8] {
        &self.server[..self.hash.bytes()]
    }

    /// Whether these are the keys of the same password, in constant time. So a password of PLAIN is checked: its keys
    /// are derived once, and compared with each of the user's.
    pub fn matches(&self, other: &ScramKeys) -> bool {
        self.hash == other.hash
            && bool::from(self.stored.ct_eq(&other.stored) & self.server.ct_eq(&other.server))
    }
}

impl fmt::Debug for ScramKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScramKeys({:?})", self.hash)
    }
}

/// RFC 5802 §7: the client's statement about channel binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gs2Flag {
    /// `n`: the client cannot bind.
    NotSupported,
    /// `y`: the client can, and believes that the server cannot.
    NotOffered,
    /// `p`: the name of the binding that the client uses.
    Used(Box<str>),
}

/// RFC 5802 §7: the first message of a client.
#[derive(Clone, PartialEq, Eq)]
pub struct ScramClientFirst {
    /// Prepared with SASLprep.
    pub username: Box<str>,
    pub authzid: Option<Box<str>>,
    pub flag: Gs2Flag,
    message: Box<str>,
    /// Where the GS2 header ends.
    bare: usize,
    nonce: Box<str>,
}

impl ScramClientFirst {
    pub fn parse(message: &[u8]) -> Result<ScramClientFirst, SaslError> {
        let message = str::from_utf8(message).map_err(|_| SaslError::MalformedRequest)?;
        ScramClientFirst::read(message).ok_or(SaslError::MalformedRequest)?
    }

    /// None: the message is not of the grammar.
    fn read(message: &str) -> Option<Result<ScramClientFirst, SaslError>> {
        let (flag, rest) = message.split_once(',')?;
        let (authzid, bare) = rest.split_once(',')?;
        let flag = match flag.split_once('=') {
            None if flag == "n" => Gs2Flag::NotSupported,
            None if flag == "y" => Gs2Flag::NotOffered,
            Some(("p", name)) if !name.is_empty() => Gs2Flag::Used(name.into()),
            _ => return None,
        };
        let authzid = match authzid {
            "" => None,
            authzid => Some(unescape(authzid.strip_prefix("a=")?)?),
        };
        let mut attributes = bare.split(',');
        // An `m=` in the place of the user name is an extension that a server must know (§5.1). There are none.
        let username = unescape(attributes.next()?.strip_prefix("n=")?)?;
        let nonce = attributes.next()?.strip_prefix("r=").filter(|nonce| is_nonce(nonce))?;
        if !attributes.all(is_extension) {
            return None;
        }
        // §5.1: a user name that cannot be prepared, or is empty then, fails.
        let prepared = stringprep::saslprep(&username).ok().filter(|username| !username.is_empty());
        Some(prepared.ok_or(SaslError::NotAuthorized).map(|prepared| ScramClientFirst {
            username: prepared.into(),
            authzid: authzid.map(String::into_boxed_str),
            flag,
            message: message.into(),
            bare: message.len() - bare.len(),
            nonce: nonce.into(),
        }))
    }
}

impl fmt::Debug for ScramClientFirst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScramClientFirst({}, {:?})", self.username, self.flag)
    }
}

/// §5.1: in names, `=2C` stands for a comma and `=3D` for an equals sign; no other `=` is allowed.
fn unescape(name: &str) -> Option<String> {
    let mut pieces = name.split('=');
    let mut unescaped = pieces.next().filter(|_| !name.is_empty())?.to_owned();
    for piece in pieces {
        let (character, rest) = match piece.strip_prefix("2C") {
            Some(rest) => (',', rest),
            None => ('=', piece.strip_prefix("3D")?),
        };
        unescaped.push(character);
        unescaped.push_str(rest);
    }
    (!unescaped.contains('\0')).then_some(unescaped)
}

/// §7: printable ASCII without the comma.
fn is_nonce(nonce: &str) -> bool {
    !nonce.is_empty() && nonce.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',')
}

/// §7: an attribute that a server may ignore.
fn is_extension(attribute: &str) -> bool {
    matches!(attribute.as_bytes(), [name, b'=', _, ..] if name.is_ascii_alphabetic())
        && !attribute.contains('\0')
}

/// The stored form of a user's passwords. A user may have several, as one per app; they share salt and
/// iterations, because a client learns those before the server knows which password it has.
///
/// For an unknown user, use keys of random bytes and a salt that is the same in each attempt, so that the answers do not
/// show whether the user exists.
pub struct ScramCredentials<'a> {
    pub keys: &'a [ScramKeys],
    pub salt: &'a [u8],
    pub iterations: NonZeroU32,
}

/// The server's contributions to the exchange.
pub struct ScramChallenge<'a> {
    /// At least 18 random bytes as printable text without commas.
    pub nonce: &'a str,
    /// The bindings that the server advertised together with -PLUS mechanisms; none if it did not.
    pub offered: &'a [ChannelBinding<'a>],
    /// See [`downgrade_hash`](super::downgrade_hash).
    pub downgrade_hash: Option<&'a str>,
}

/// An exchange after the client's first message. Next come [`server_first`](ScramServer::server_first), the client's
/// answer, and [`verify`](ScramServer::verify).
pub struct ScramServer {
    hash: ScramHash,
    keys: Box<[ScramKeys]>,
    client_first_bare: Box<str>,
    server_first: String,
    /// Both nonces, as the client must repeat them.
    nonce: Box<str>,
    /// The `c` that the client must send: its GS2 header and the data of the channel.
    channel: String,
}

/// A proof that was right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The index of the matching key in [`ScramCredentials::keys`].
    pub key: usize,
    /// The server's own proof, which goes to the client with the success.
    pub server_final: String,
}

impl ScramServer {
    pub fn new(
        mechanism: Mechanism,
        client_first: &ScramClientFirst,
        credentials: &ScramCredentials<'_>,
        challenge: &ScramChallenge<'_>,
    ) -> Result<ScramServer, SaslError> {
        let hash = mechanism.scram_hash().ok_or(SaslError::InvalidMechanism)?;
        let data = channel_data(mechanism, &client_first.flag, challenge.offered)?;
        let (gs2_header, client_first_bare) = client_first.message.split_at(client_first.bare);
        let nonce = format!("{}{}", client_first.nonce, challenge.nonce);
        let mut server_first =
            format!("r={nonce},s={},i={}", encode(credentials.salt), credentials.iterations);
        if let Some(hash) = challenge.downgrade_hash {
            server_first.push_str(",h=");
            server_first.push_str(hash);
        }
        Ok(ScramServer {
            hash,
            keys: credentials.keys.into(),
            client_first_bare: client_first_bare.into(),
            server_first,
            nonce: nonce.into(),
            channel: encode(&[gs2_header.as_bytes(), data].concat()),
        })
    }

    /// The challenge for the client.
    pub fn server_first(&self) -> &str {
        &self.server_first
    }

    /// Checks the client's final message against every key. The time does not depend on which one matches.
    pub fn verify(self, client_final: &[u8]) -> Result<Verified, SaslError> {
        let message = str::from_utf8(client_final).map_err(|_| SaslError::MalformedRequest)?;
        let (without_proof, proof) = message.rsplit_once(",p=").ok_or(SaslError::MalformedRequest)?;
        let mut attributes = without_proof.split(',');
        let channel = attributes.next().and_then(|channel| channel.strip_prefix("c="));
        let nonce = attributes.next().and_then(|nonce| nonce.strip_prefix("r="));
        let (Some(channel), Some(nonce)) = (channel, nonce) else { return Err(SaslError::MalformedRequest) };
        if !attributes.all(is_extension) {
            return Err(SaslError::MalformedRequest);
        }
        // §5.1, §6: another channel or another GS2 header than in the first message is an attack.
        if channel != self.channel || *nonce != *self.nonce {
            return Err(SaslError::NotAuthorized);
        }
        let proof = decode(proof)?;
        if proof.len() != self.hash.bytes() {
            return Err(SaslError::MalformedRequest);
        }
        let auth_message = format!("{},{},{without_proof}", self.client_first_bare, self.server_first);
        let mut found = Choice::from(0);
        let mut key = 0;
        for (index, keys) in (0u64..).zip(&self.keys).filter(|(_, keys)| keys.hash == self.hash) {
            let signature = self.hash.hmac(keys.stored_key(), auth_message.as_bytes());
            let client_key: Vec<u8> =
                proof.iter().zip(signature.as_ref()).map(|(one, two)| one ^ two).collect();
            let fits = self.hash.digest(&client_key).as_ref().ct_eq(keys.stored_key());
            key.conditional_assign(&index, fits & !found);
            found |= fits;
        }
        if !bool::from(found) {
            return Err(SaslError::NotAuthorized);
        }
        let key = key as usize;
        let signature = self.hash.hmac(self.keys[key].server_key(), auth_message.as_bytes());
        Ok(Verified { key, server_final: format!("v={}", encode(signature.as_ref())) })
    }
}

impl fmt::Debug for ScramServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScramServer({:?}, {} keys)", self.hash, self.keys.len())
    }
}

/// RFC 5802 §6: the data that the client must have hashed, or a refusal if flag and mechanism do not fit together.
fn channel_data<'a>(
    mechanism: Mechanism,
    flag: &Gs2Flag,
    offered: &[ChannelBinding<'a>],
) -> Result<&'a [u8], SaslError> {
    match (flag, mechanism.is_plus()) {
        (Gs2Flag::NotSupported, false) => Ok(&[]),
        // The client has not seen our offer, so an attacker between us removed it.
        (Gs2Flag::NotOffered, false) if !offered.is_empty() => Err(SaslError::NotAuthorized),
        (Gs2Flag::NotOffered, false) => Ok(&[]),
        (Gs2Flag::Used(name), true) => {
            let binding = offered.iter().find(|binding| binding.kind.name() == &**name);
            binding.map(|binding| binding.data).ok_or(SaslError::NotAuthorized)
        }
        (Gs2Flag::NotSupported | Gs2Flag::NotOffered, true) | (Gs2Flag::Used(_), false) => {
            Err(SaslError::MalformedRequest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::BindingKind;
    use super::*;

    const ITERATIONS: NonZeroU32 = NonZeroU32::new(4096).unwrap();

    /// The client's side, for tests.
    fn client_final(hash: ScramHash, password: &str, first: &str, server_first: &str, data: &[u8]) -> String {
        let (header, bare) = first.split_at(first.match_indices(',').nth(1).unwrap().0 + 1);
        let attribute =
            |name: &str| server_first.split(',').find_map(|part| part.strip_prefix(name)).unwrap();
        let mut salted = vec![0; hash.bytes()];
        let algorithm = match hash {
            ScramHash::Sha1 => pbkdf2::PBKDF2_HMAC_SHA1,
            ScramHash::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
        };
        let iterations = attribute("i=").parse().unwrap();
        pbkdf2::derive(
            algorithm,
            iterations,
            &decode(attribute("s=")).unwrap(),
            password.as_bytes(),
            &mut salted,
        );
        let client_key = hash.hmac(&salted, b"Client Key");
        let channel = encode(&[header.as_bytes(), data].concat());
        let without_proof = format!("c={channel},r={}", attribute("r="));
        let stored = hash.digest(client_key.as_ref());
        let signature =
            hash.hmac(stored.as_ref(), format!("{bare},{server_first},{without_proof}").as_bytes());
        let proof: Vec<u8> =
            client_key.as_ref().iter().zip(signature.as_ref()).map(|(one, two)| one ^ two).collect();
        format!("{without_proof},p={}", encode(&proof))
    }

    fn challenge(nonce: &str) -> ScramChallenge<'_> {
        ScramChallenge { nonce, offered: &[], downgrade_hash: None }
    }

    struct Vector {
        mechanism: Mechanism,
        client_first: &'static str,
        nonce: &'static str,
        salt: &'static str,
        server_first: &'static str,
        client_final: &'static str,
        server_final: &'static str,
    }

    fn check(vector: &Vector) {
        let salt = decode(vector.salt).unwrap();
        let hash = vector.mechanism.scram_hash().unwrap();
        let other_hash = if hash == ScramHash::Sha1 { ScramHash::Sha256 } else { ScramHash::Sha1 };
        let keys = [(other_hash, "pencil"), (hash, "other"), (hash, "pencil"), (hash, "third")]
            .map(|(hash, password)| ScramKeys::derive(hash, password, &salt, ITERATIONS).unwrap());
        let first = ScramClientFirst::parse(vector.client_first.as_bytes()).unwrap();
        assert_eq!(&*first.username, "user");
        let credentials = ScramCredentials { keys: &keys, salt: &salt, iterations: ITERATIONS };
        let server =
            ScramServer::new(vector.mechanism, &first, &credentials, &challenge(vector.nonce)).unwrap();
        assert_eq!(server.server_first(), vector.server_first);
        let expected = Verified { key: 2, server_final: vector.server_final.to_owned() };
        assert_eq!(server.verify(vector.client_final.as_bytes()), Ok(expected));
    }

    /// RFC 5802 §5.
    #[test]
    fn the_exchange_with_sha_1_is_that_of_the_rfc() {
        check(&Vector {
            mechanism: Mechanism::ScramSha1,
            client_first: "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
            nonce: "3rfcNHYJY1ZVvWVs7j",
            salt: "QSXCR+Q6sek8bf92",
            server_first: "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
            client_final: "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
            server_final: "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
        });
    }

    /// RFC 7677 §3.
    #[test]
    fn the_exchange_with_sha_256_is_that_of_the_rfc() {
        check(&Vector {
            mechanism: Mechanism::ScramSha256,
            client_first: "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
            nonce: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
            salt: "W22ZaJ0SNY7soEsUEjb6gQ==",
            server_first: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
            client_final: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
            server_final: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
        });
    }

    /// One exchange of a client with the password `pencil`. `claimed` is the data that the client hashes.
    fn exchange(
        mechanism: Mechanism,
        header: &str,
        claimed: &[u8],
        offered: &[ChannelBinding<'_>],
    ) -> Result<Verified, SaslError> {
        let hash = mechanism.scram_hash().unwrap();
        let iterations = NonZeroU32::new(2).unwrap();
        let keys = [ScramKeys::derive(hash, "pencil", b"salt", iterations).unwrap()];
        let first = format!("{header}n=user,r=abc");
        let client_first = ScramClientFirst::parse(first.as_bytes())?;
        let credentials = ScramCredentials { keys: &keys, salt: b"salt", iterations };
        let challenge = ScramChallenge { nonce: "def", offered, downgrade_hash: Some("aGFzaA==") };
        let server = ScramServer::new(mechanism, &client_first, &credentials, &challenge)?;
        assert_eq!(server.server_first(), "r=abcdef,s=c2FsdA==,i=2,h=aGFzaA==");
        let answer = client_final(hash, "pencil", &first, server.server_first(), claimed);
        server.verify(answer.as_bytes())
    }

    #[test]
    fn a_binding_ties_the_exchange_to_its_connection() {
        let offered = [
            ChannelBinding { kind: BindingKind::TlsExporter, data: b"exported" },
            ChannelBinding { kind: BindingKind::TlsServerEndPoint, data: b"certificate" },
        ];
        for mechanism in [Mechanism::ScramSha1Plus, Mechanism::ScramSha256Plus] {
            let run =
                |header: &str, claimed: &[u8]| exchange(mechanism, header, claimed, &offered).map(|_| ());
            assert_eq!(run("p=tls-exporter,,", b"exported"), Ok(()));
            assert_eq!(run("p=tls-server-end-point,a=user,", b"certificate"), Ok(()));
            assert_eq!(run("p=tls-exporter,,", b"other"), Err(SaslError::NotAuthorized));
            assert_eq!(run("p=tls-exporter,,", b"certificate"), Err(SaslError::NotAuthorized));
            assert_eq!(run("p=tls-unique,,", b"exported"), Err(SaslError::NotAuthorized));
            assert_eq!(run("n,,", b""), Err(SaslError::MalformedRequest));
            assert_eq!(run("y,,", b""), Err(SaslError::MalformedRequest));
        }
    }

    #[test]
    fn a_removed_offer_is_noticed() {
        let offered = [ChannelBinding { kind: BindingKind::TlsExporter, data: b"exported" }];
        let run = |header: &str, offered: &[ChannelBinding<'_>]| {
            exchange(Mechanism::ScramSha256, header, b"", offered).map(|_| ())
        };
        assert_eq!(run("y,,", &offered), Err(SaslError::NotAuthorized));
        assert_eq!(run("y,,", &[]), Ok(()));
        assert_eq!(run("n,,", &offered), Ok(()));
        assert_eq!(run("p=tls-exporter,,", &offered), Err(SaslError::MalformedRequest));
    }

    #[test]
    fn names_are_unescaped_and_prepared() {
        let read = |message: &str| ScramClientFirst::parse(message.as_bytes());
        let first = read("n,a=x=3Dy,n=a=2Cb=3Dc\u{AD},r=1,e=x").unwrap();
        assert_eq!((&*first.username, first.authzid.as_deref()), ("a,b=c", Some("x=y")));
        assert_eq!(read("p=tls-exporter,,n=a,r=1").unwrap().flag, Gs2Flag::Used("tls-exporter".into()));
        for (message, error) in [
            ("", SaslError::MalformedRequest),
            ("n,", SaslError::MalformedRequest),
            ("n,,", SaslError::MalformedRequest),
            ("x,,n=a,r=1", SaslError::MalformedRequest),
            ("n=1,,n=a,r=1", SaslError::MalformedRequest),
            ("p=,,n=a,r=1", SaslError::MalformedRequest),
            ("n,b,n=a,r=1", SaslError::MalformedRequest),
            ("n,a=,n=a,r=1", SaslError::MalformedRequest),
            ("n,,n=,r=1", SaslError::MalformedRequest),
            ("n,,n=a=,r=1", SaslError::MalformedRequest),
            ("n,,n=a=2c,r=1", SaslError::MalformedRequest),
            ("n,,n=a", SaslError::MalformedRequest),
            ("n,,n=a,r=", SaslError::MalformedRequest),
            ("n,,n=a,r=\u{E4}", SaslError::MalformedRequest),
            ("n,,n=a,r=1,e", SaslError::MalformedRequest),
            ("n,,m=a,n=a,r=1", SaslError::MalformedRequest),
            ("n,,n=\u{7},r=1", SaslError::NotAuthorized),
            ("n,,n=\u{AD},r=1", SaslError::NotAuthorized),
        ] {
            assert_eq!(read(message), Err(error), "{message:?}");
        }
    }

    #[test]
    fn wrong_final_messages_are_refused() {
        let keys = [ScramKeys::derive(ScramHash::Sha1, "pencil", b"salt", ITERATIONS).unwrap()];
        let credentials = ScramCredentials { keys: &keys, salt: b"salt", iterations: ITERATIONS };
        let first = ScramClientFirst::parse(b"n,,n=user,r=abc").unwrap();
        let zeros = encode(&[0; 20]);
        for (message, error) in [
            ("", SaslError::MalformedRequest),
            ("c=biws,r=abcdef", SaslError::MalformedRequest),
            ("c=biws,p=", SaslError::MalformedRequest),
            ("r=abcdef,c=biws,p=", SaslError::MalformedRequest),
            ("c=biws,r=abcdef,p=AA==", SaslError::MalformedRequest),
            ("c=biws,r=abcdef,p=A", SaslError::IncorrectEncoding),
            ("c=biws,r=abc,p=ZEROS", SaslError::NotAuthorized),
            ("c=eSws,r=abcdef,p=ZEROS", SaslError::NotAuthorized),
            ("c=biws,r=abcdef,p=ZEROS", SaslError::NotAuthorized),
        ] {
            let server =
                ScramServer::new(Mechanism::ScramSha1, &first, &credentials, &challenge("def")).unwrap();
            let message = message.replace("ZEROS", &zeros);
            assert_eq!(server.verify(message.as_bytes()), Err(error), "{message}");
        }
        let none = ScramCredentials { keys: &[], ..credentials };
        let server = ScramServer::new(Mechanism::ScramSha1, &first, &none, &challenge("def")).unwrap();
        let answer = client_final(ScramHash::Sha1, "pencil", "n,,n=user,r=abc", server.server_first(), b"");
        assert_eq!(
            server.verify(answer.as_bytes()),
            Err(SaslError::NotAuthorized),
            "a user without passwords"
        );
    }

    #[test]
    fn keys_are_compared_and_stored() {
        let derive = |password| ScramKeys::derive(ScramHash::Sha256, password, b"salt", ITERATIONS).unwrap();
        let keys = derive("pencil");
        assert!(keys.matches(&derive("pencil")) && !keys.matches(&derive("Pencil")));
        let restored = ScramKeys::of(keys.hash(), keys.stored_key(), keys.server_key()).unwrap();
        assert!(restored.matches(&keys));
        assert!(ScramKeys::of(ScramHash::Sha1, keys.stored_key(), keys.server_key()).is_none());
        assert!(ScramKeys::derive(ScramHash::Sha1, "\u{7}", b"salt", ITERATIONS).is_none());
        assert_eq!(format!("{keys:?}"), "ScramKeys(Sha256)");
    }
}
