//! In-band registration (XEP-0077) for members: a new password for this app, and the removal of the account.
//!
//! Nobody registers here. An account belongs to the site, whose program tells the node who its members are.

use chat::account::Command;
use chat::{AppPassword, MessagesAfterErasure, Refusal};
use xmpp_proto::ns;
use xmpp_proto::payload::register::{self as payload, Request};
use xmpp_proto::stanza::{Condition, StanzaError};

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Iq, IqHandler, IqKind, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(77),
    name: "In-Band Registration",
    version: "2.4",
    scenario: "registration",
    server_features: &[ns::REGISTER],
    account_features: &[],
    iq: &[IqHandler { name: "query", ns: ns::REGISTER, handle: request }],
};

fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if !matches!(iq.target, Target::Server | Target::Account) {
        return Err(StanzaError::new(Condition::ServiceUnavailable));
    }
    let own = turn.session.jid.local().unwrap_or_default().to_owned();
    if iq.kind == IqKind::Get {
        turn.result(iq, |out| payload::write(out, Some(&own)));
        return Ok(());
    }
    match Request::of(iq.payload).map_err(StanzaError::new)? {
        Request::Register { username, .. } if *username != own && *username != *turn.session.bare() => {
            Err(StanzaError::new(Condition::NotAllowed))
        }
        Request::Register { password, .. } => change_password(turn, iq, &password),
        Request::Remove => {
            remove(turn, iq);
            Ok(())
        }
    }
}

/// §3.3: the app password with which this session has signed in becomes another one.
fn change_password(turn: &mut Turn<'_, '_>, iq: &Iq<'_>, password: &str) -> Result<(), StanzaError> {
    let password = AppPassword::chosen(password)
        .map_err(|why| StanzaError::new(Condition::NotAcceptable).text(why.to_string()))?;
    turn.ask(iq, |turn, asked, _| turn.answer(asked, |_| {}), Command::ChangeAppPassword { password });
    Ok(())
}

/// §3.2. The messages stay without their author, as in the widget. The session ends, and that is the answer of the domain.
fn remove(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) {
    let command = Command::Erase { messages: MessagesAfterErasure::Kept };
    turn.ask_then(iq, command, |turn, asked, answer| match answer {
        Ok(_) | Err(Refusal::Removed) => turn.answer(asked, |_| {}),
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
}
