//! Notification settings.

use std::borrow::Cow;

use chat::Delivery;
use chat::notifications::Event as Of;
use web_proto::{Event, MailDigest, QuietHours};

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
    }
}

/// None: a value that cannot be.
pub(super) fn change(
    subscribe: Option<web_proto::PushSubscription<'_>>,
    unsubscribe: Option<Cow<'_, str>>,
    quiet: Option<web_proto::QuietHours>,
) -> Option<chat::NotifyChange> {
    let device = |one: web_proto::PushSubscription<'_>| {
        let language = one.lang.as_deref().unwrap_or_default();
        chat::PushDevice::parse(&one.endpoint, &one.p256dh, &one.auth, language).ok_or(())
    };
    let hours = |hours: web_proto::QuietHours| match hours.from == hours.to {
        true => Ok(None),
        false => chat::QuietHours::new(hours.from, hours.to, hours.offset).map(Some).ok_or(()),
    };
    Some(chat::NotifyChange {
        subscribe: subscribe.map(device).transpose().ok()?,
        unsubscribe: unsubscribe.map(Into::into),
        quiet: quiet.map(hours).transpose().ok()?,
        ..chat::NotifyChange::default()
    })
}
