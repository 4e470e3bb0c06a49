//! Centrifugo's JSON protocol: objects, one on a line.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::{EachReply, Fault, Reply};

#[derive(Serialize)]
struct Command<'a> {
    id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    connect: Option<Connect<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    publish: Option<Publish<'a>>,
}

#[derive(Serialize)]
struct Connect<'a> {
    token: &'a str,
}

#[derive(Serialize)]
struct Publish<'a> {
    channel: &'a str,
    data: &'a str,
}

pub(super) fn connect(number: u32, token: &str) -> Vec<u8> {
    written(&Command { id: number, connect: Some(Connect { token }), publish: None })
}

pub(super) fn publish(number: u32, user: &str, text: &str) -> Vec<u8> {
    let channel = format!("#{user}");
    let publish = Some(Publish { channel: &channel, data: text });
    written(&Command { id: number, connect: None, publish })
}

fn written(command: &Command<'_>) -> Vec<u8> {
    serde_json::to_vec(command).expect("numbers and texts have a JSON form")
}

#[derive(Deserialize)]
struct JsonReply<'a> {
    #[serde(default)]
    id: u32,
    error: Option<Error>,
    connect: Option<Connected>,
    publish: Option<IgnoredAny>,
    #[serde(borrow)]
    push: Option<Push<'a>>,
}

#[derive(Deserialize)]
struct Error {
    code: u32,
}

#[derive(Deserialize)]
struct Connected {
    #[serde(default)]
    pong: bool,
}

#[derive(Deserialize)]
struct Push<'a> {
    #[serde(borrow, rename = "pub")]
    publication: Option<Publication<'a>>,
}

#[derive(Deserialize)]
struct Publication<'a> {
    #[serde(borrow)]
    data: Cow<'a, str>,
    #[serde(borrow)]
    info: Option<Info<'a>>,
}

#[derive(Deserialize)]
struct Info<'a> {
    #[serde(borrow, default)]
    user: Cow<'a, str>,
}

pub(super) fn replies<'a>(frame: &'a [u8], each: &mut EachReply<'_, 'a>) -> Result<(), Fault> {
    for line in frame.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let reply =
            serde_json::from_slice(line).map_err(|_| Fault::Centrifugo("a reply that cannot be read"))?;
        each(read(reply)?)?;
    }
    Ok(())
}

fn read(reply: JsonReply<'_>) -> Result<Reply<'_>, Fault> {
    Ok(match reply {
        JsonReply { id: number, error: Some(Error { code }), .. } => Reply::Refused { number, code },
        JsonReply { connect: Some(Connected { pong }), .. } => Reply::Connected { pong },
        JsonReply { id: number, publish: Some(_), .. } => Reply::Published { number },
        JsonReply { push: Some(Push { publication: Some(publication) }), .. } => {
            let from = publication.info.map(|info| info.user).unwrap_or_default();
            Reply::Publication { from, text: publication.data }
        }
        JsonReply { push: Some(_), .. } => Reply::Other,
        JsonReply { id: 0, .. } => Reply::Ping,
        _ => return Err(Fault::Centrifugo("a reply without a content")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        assert_eq!(connect(1, "t"), br#"{"id":1,"connect":{"token":"t"}}"#);
        let publish = publish(2, "tom", "a \"b\"");
        assert_eq!(publish, br##"{"id":2,"publish":{"channel":"#tom","data":"a \"b\""}}"##);
    }
}
