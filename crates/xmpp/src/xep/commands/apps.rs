//! The user's app passwords. An app revokes some, and so signs other apps out. It cannot make one: whoever has stolen an app
//! password would make a second, which outlives the first.

use chat::account::{Command as AccountCommand, Event as AccountEvent};
use chat::{Delivery, Event, KnownAppPassword, SiteRole};
use xmpp_proto::payload::commands::{Wrong, error};
use xmpp_proto::payload::data_forms::{Field, FieldKind, Form};
use xmpp_proto::stanza::StanzaError;

use super::{Command, Run};
use crate::session::Turn;

pub(super) const REVOKE: Command = Command {
    node: "urn:kith:commands:app-passwords",
    name: "Sign out apps",
    role: SiteRole::Member,
    show,
    submit,
};

const FORM: &str = "urn:kith:commands:app-passwords";
const PASSWORDS: &str = "passwords";

fn show(turn: &mut Turn<'_, '_>, run: Run) {
    run.ask(turn, AccountCommand::ListAppPasswords, |turn, run, delivery| {
        let rows = passwords(delivery);
        if rows.is_empty() {
            return run.completed(turn, "You have no app passwords.");
        }
        let options: Vec<(String, String)> =
            rows.iter().map(|one| (one.row.number.to_string(), label(one))).collect();
        let options: Vec<(&str, &str)> =
            options.iter().map(|(value, label)| (value.as_str(), label.as_str())).collect();
        run.form(turn, FORM, |out| {
            let field = Field {
                kind: Some(FieldKind::ListMulti),
                label: Some("Passwords to revoke"),
                ..Field::new(PASSWORDS, &[])
            };
            Field { options: &options, ..field }.write(out);
        });
    });
}

fn passwords(delivery: &Delivery) -> &[KnownAppPassword] {
    match &delivery.event {
        Event::Account(AccountEvent::AppPasswords { passwords, .. }) => passwords,
        _ => &[],
    }
}

fn label(one: &KnownAppPassword) -> String {
    match one.here {
        true => format!("{} (connected now)", one.row.name),
        false => one.row.name.to_string(),
    }
}

fn submit(turn: &mut Turn<'_, '_>, run: Run, form: &Form<'_>) -> Result<(), StanzaError> {
    let numbers = form.values(PASSWORDS).iter().map(|value| value.parse());
    let numbers: Vec<u32> = numbers.collect::<Result<_, _>>().map_err(|_| error(Wrong::BadPayload))?;
    if numbers.is_empty() || numbers.len() > chat::MOST_APP_PASSWORDS {
        return Err(error(Wrong::BadPayload));
    }
    revoke(turn, run, numbers);
    Ok(())
}

/// The password of this session ends the session.
fn revoke(turn: &mut Turn<'_, '_>, run: Run, mut numbers: Vec<u32>) {
    let Some(number) = numbers.pop() else { return run.completed(turn, "The passwords are revoked.") };
    run.ask(turn, AccountCommand::RevokeAppPassword { number }, move |turn, run, _| {
        revoke(turn, run, numbers);
    });
}
