//! Encryption of a message for one browser: RFC 8291 over RFC 8188's `aes128gcm`, in one record.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom, SystemRandom};

const KEY_BYTES: usize = 65;
const AUTH_BYTES: usize = 16;
const SALT_BYTES: usize = 16;
const TAG_BYTES: usize = 16;
/// Salt, size of a record, length of the key, key: RFC 8188 §2.1.
const HEAD_BYTES: usize = SALT_BYTES + 4 + 1 + KEY_BYTES;
/// The largest body that a push service must accept: RFC 8030 §7.2.
const BODY_BYTES: usize = 4_096;
pub(crate) const MESSAGE_BYTES: usize = BODY_BYTES - HEAD_BYTES - TAG_BYTES - 1;
/// Messages are padded to a multiple of this length, so that the service learns little about their length.
const STEP_BYTES: usize = 512;

/// The public part of a browser's subscription, for senders.
#[derive(Clone, PartialEq, Eq)]
pub struct Receiver {
    key: [u8; KEY_BYTES],
    auth: [u8; AUTH_BYTES],
}

/// The keys of a browser do not have the form of RFC 8291 §3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("these are not the keys of a browser's push subscription")]
pub struct WrongReceiver;

impl Receiver {
    /// `key`: the browser's public key (`p256dh`, a point of P-256 in the uncompressed form). `auth`: its secret.
    pub fn new(key: &[u8], auth: &[u8]) -> Result<Receiver, WrongReceiver> {
        let key: [u8; KEY_BYTES] = key.try_into().map_err(|_| WrongReceiver)?;
        let auth = auth.try_into().map_err(|_| WrongReceiver)?;
        // X9.62: a 4 begins the uncompressed form. Key agreement checks later that the point is on the curve.
        if key[0] != 4 {
            return Err(WrongReceiver);
        }
        Ok(Receiver { key, auth })
    }
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Receiver")
    }
}

/// The body of the request. Cuts a message that is longer than [`MESSAGE_BYTES`], and refuses keys that are not on the
/// curve.
pub fn seal(message: &[u8], to: &Receiver) -> Result<Vec<u8>, WrongReceiver> {
    let random = SystemRandom::new();
    let mut salt = [0; SALT_BYTES];
    random.fill(&mut salt).map_err(|_| WrongReceiver)?;
    let ours = EphemeralPrivateKey::generate(&ECDH_P256, &random).map_err(|_| WrongReceiver)?;
    let public = ours.compute_public_key().map_err(|_| WrongReceiver)?;
    let sender: [u8; KEY_BYTES] = public.as_ref().try_into().map_err(|_| WrongReceiver)?;
    let theirs = UnparsedPublicKey::new(&ECDH_P256, &to.key);
    let message = &message[..message.len().min(MESSAGE_BYTES)];
    let room = BODY_BYTES.min((HEAD_BYTES + message.len() + 1 + TAG_BYTES).next_multiple_of(STEP_BYTES));
    let padding = room - HEAD_BYTES - message.len() - 1 - TAG_BYTES;
    agree_ephemeral(ours, &theirs, |shared| seal_with(shared, message, padding, to, &sender, salt))
        .map_err(|_| WrongReceiver)
}

/// Everything but the key agreement, so that a test can check the example of the RFC: ring cannot load its private
/// keys.
fn seal_with(
    shared: &[u8],
    message: &[u8],
    padding: usize,
    to: &Receiver,
    sender: &[u8; KEY_BYTES],
    salt: [u8; SALT_BYTES],
) -> Vec<u8> {
    // RFC 8291 §3.4.
    let info: [&[u8]; 3] = [b"WebPush: info\0", &to.key, sender];
    let key: [u8; 32] = expand(&to.auth, shared, &info);
    // RFC 8188 §2.2 and §2.3. There is one record, so its number 0 does not change the nonce.
    let content_key: [u8; 16] = expand(&salt, &key, &[b"Content-Encoding: aes128gcm\0"]);
    let nonce: [u8; 12] = expand(&salt, &key, &[b"Content-Encoding: nonce\0"]);

    let mut record = Vec::with_capacity(message.len() + 1 + padding + TAG_BYTES);
    record.extend_from_slice(message);
    record.push(2); // the last record: RFC 8188 §2
    record.resize(record.len() + padding, 0);
    let cipher = UnboundKey::new(&AES_128_GCM, &content_key).expect("the key is as long as the cipher wants");
    LessSafeKey::new(cipher)
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record)
        .expect("a record is shorter than the cipher's limit");

    let mut body = Vec::with_capacity(HEAD_BYTES + record.len());
    body.extend_from_slice(&salt);
    body.extend_from_slice(&(BODY_BYTES as u32).to_be_bytes());
    body.push(KEY_BYTES as u8);
    body.extend_from_slice(sender);
    body.extend_from_slice(&record);
    body
}

fn expand<const N: usize>(salt: &[u8], secret: &[u8], info: &[&[u8]]) -> [u8; N] {
    struct Length(usize);
    impl KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut key = [0; N];
    let extracted = Salt::new(HKDF_SHA256, salt).extract(secret);
    let expanded = extracted.expand(info, Length(N)).expect("far less than HKDF can give");
    expanded.fill(&mut key).expect("it was asked for so many bytes");
    key
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

    use super::*;

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        URL_SAFE_NO_PAD.decode(text).expect(text).try_into().expect("of this length")
    }

    /// RFC 8291 §5 and appendix A.
    #[test]
    fn the_example_of_the_rfc() {
        let key = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
        let sender =
            "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
        let to =
            Receiver::new(&bytes::<65>(key), &bytes::<16>("BTBZMqHH6r4Tts7J_aSIgg")).expect("a receiver");
        let body = seal_with(
            &bytes::<32>("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"),
            b"When I grow up, I want to be a watermelon",
            0,
            &to,
            &bytes(sender),
            bytes("DGv6ra1nlYgDCS1FRnbzlw"),
        );
        assert_eq!(
            URL_SAFE_NO_PAD.encode(body),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w\
             EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
        );
    }

    #[test]
    fn invalid_keys_are_refused() {
        let point = [4; KEY_BYTES];
        assert!(Receiver::new(&point, &[0; 15]).is_err());
        assert!(Receiver::new(&point[1..], &[0; 16]).is_err());
        assert!(Receiver::new(&[2; KEY_BYTES], &[0; 16]).is_err());
        let off_the_curve = Receiver::new(&point, &[0; 16]).expect("it has the right lengths");
        assert_eq!(seal(b"x", &off_the_curve), Err(WrongReceiver));
    }

    #[test]
    fn a_body_is_never_longer_than_a_service_must_take() {
        let ours = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).expect("a key");
        let public = ours.compute_public_key().expect("its public half");
        let to = Receiver::new(public.as_ref(), &[7; 16]).expect("a receiver");
        for (message, body) in [(0, 512), (1, 512), (409, 512), (410, 1_024), (3_993, 4_096), (9_999, 4_096)]
        {
            assert_eq!(seal(&vec![b'x'; message], &to).expect("sealed").len(), body, "{message}");
        }
    }
}
