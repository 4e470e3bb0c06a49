//! A member in the widget: a WebSocket of the web protocol.

use edge::Handle;
use serde_json::{Value, json};

use super::{PAGE, SITE, Scene};

pub(crate) struct WebClient {
    handle: Handle,
    input: Vec<u8>,
    pub(crate) received: Vec<Value>,
}

impl WebClient {
    pub(crate) fn sign_in(scene: &mut Scene, user: &str) -> WebClient {
        let handle = scene.web.connect();
        let upgrade = format!(
            "GET /v1/websocket HTTP/1.1\r\nHost: chat.example\r\nOrigin: {PAGE}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: kith.v1\r\n\r\n"
        );
        scene.web.feed(handle, upgrade.as_bytes());
        let answer = String::from_utf8(scene.web.output(handle)).unwrap();
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        let mut client = WebClient { handle, input: Vec::new(), received: Vec::new() };
        let hello = json!({
            "t": "hello", "v": 1, "site": SITE, "token": scene.token(user), "device": format!("{user}-browser"),
        });
        client.send(scene, &hello.to_string());
        client.read(scene);
        let welcome = client.received.remove(0);
        assert_eq!(welcome["t"], "welcome", "{welcome}");
        client
    }

    pub(crate) fn send(&mut self, scene: &mut Scene, frame: &str) {
        scene.web.feed(self.handle, &text_frame(frame));
        scene.settle();
    }

    pub(crate) fn disconnect(&mut self, scene: &mut Scene) {
        scene.web.end(self.handle);
        scene.settle();
    }

    pub(crate) fn read(&mut self, scene: &mut Scene) {
        self.input.extend(scene.web.output(self.handle));
        while let Some((header, length)) =
            frame_length(&self.input).filter(|(h, l)| self.input.len() >= h + l)
        {
            let payload = &self.input[header..header + length];
            if self.input[0] & 0x0f == 1 {
                self.received.push(serde_json::from_slice(payload).unwrap());
            }
            self.input.drain(..header + length);
        }
    }
}

/// A text frame of a client.
pub(crate) fn text_frame(text: &str) -> Vec<u8> {
    frame(0x81, text.as_bytes())
}

/// A frame of a client, with its first byte. Its mask has only zeros, so the payload stays readable (RFC 6455 §5.3).
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        length @ ..126 => bytes.push(0x80 | length as u8),
        length @ ..65_536 => {
            bytes.push(0x80 | 126);
            bytes.extend((length as u16).to_be_bytes());
        }
        length => {
            bytes.push(0x80 | 127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

/// The bytes of the header and of the payload (RFC 6455 §5.2).
pub(crate) fn frame_length(input: &[u8]) -> Option<(usize, usize)> {
    match *input.get(1)? {
        126 => Some((4, usize::from(u16::from_be_bytes([*input.get(2)?, *input.get(3)?])))),
        127 => {
            let bytes: [u8; 8] = input.get(2..10)?.try_into().unwrap();
            Some((10, usize::try_from(u64::from_be_bytes(bytes)).unwrap()))
        }
        short => Some((2, usize::from(short))),
    }
}
