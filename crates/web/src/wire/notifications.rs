//! Notification settings.

use std::borrow::Cow;

use chat::Delivery;
use chat::notifications::{Command, Event as Of};
use web_proto::{Code, Command as Wire, Event, MailDigest, PushSubscription, QuietHours};

use super::number;

pub(super) fn event<'a>(delivery: &'a Delivery, event: &'a Of) -> Event<'a> {
    match event {
        Of::Settings { key, settings, devices, mail } => Event::Notifications {
            re: number(delivery),
            key: key.as_deref().map(Cow::Borrowed),
            devices: *devices,
            quiet: settings.quiet.map(|hours| QuietHours {
                from: hours.from(),
                to: hours.to(),
                offset: hours.offset(),
            }),
            bodies: settings.bodies,
            mail: mail
                .as_ref()
                .map(|(address, after)| MailDigest { address: Cow::Borrowed(address), after: *after }),
        },
        Of::AppPush => unreachable!("only apps have a push service of their own"),
    }
}

pub(super) fn command(command: Wire<'_>) -> Result<Command, Code> {
    match command {
        Wire::Notifications { subscribe, unsubscribe, quiet, bodies, mail, .. } => {
            Ok(Command::Change(Box::new(chat::NotifyChange {
                subscribe: subscribe.as_ref().map(device).transpose()?,
                unsubscribe: unsubscribe.map(Into::into),
                quiet: quiet.map(quiet_hours).transpose()?,
                bodies,
                mail,
            })))
        }
        not_of!(notifications) => unreachable!("another part decodes it"),
    }
}

fn device(browser: &PushSubscription<'_>) -> Result<chat::PushDevice, Code> {
    let PushSubscription { endpoint, p256dh, auth, lang } = browser;
    let language = lang.as_deref().unwrap_or_default();
    chat::PushDevice::parse(endpoint, p256dh, auth, language).ok_or(Code::BadValue)
}

/// None: no quiet hours.
fn quiet_hours(hours: QuietHours) -> Result<Option<chat::QuietHours>, Code> {
    if hours.from == hours.to {
        return Ok(None);
    }
    chat::QuietHours::new(hours.from, hours.to, hours.offset).map(Some).ok_or(Code::BadValue)
}
