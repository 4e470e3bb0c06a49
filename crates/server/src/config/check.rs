//! Checks of settings that their types cannot express.

use super::{ClusterRole, Config, Files, Mail, Web};
use crate::span::Span;
use crate::trouble::{Outcome, Trouble};

/// A page of messages is read into memory as a whole.
const MOST_EXTENSION_BYTES: u32 = 262_144;
const OUTPUT_MEMORY_MIB: std::ops::RangeInclusive<u32> = 16..=65_536;
/// More than any line can use.
const MOST_SOCKET_BUFFER_KIB: u32 = 65_536;

/// Checks all settings. The error says how to correct the first mistake.
pub(super) fn check(config: &Config) -> Outcome {
    match (&config.https, &config.tls_cert, &config.tls_key) {
        (Some(_), Some(_), Some(_)) | (None, None, None) => {}
        (Some(_), ..) => {
            return Err(Trouble::new("HTTPS needs a certificate and its key")
                .remedy("add --tls-cert chain.pem --tls-key key.pem, or leave out --https"));
        }
        (None, ..) => {
            return Err(Trouble::new("a certificate is set, but no address for HTTPS")
                .remedy("add --https 0.0.0.0:8443, or leave out --tls-cert and --tls-key"));
        }
    }
    if config.limits.body_bytes.saturating_mul(2) > config.web.frame_bytes {
        return Err(Trouble::new("limits.body_bytes is too large for web.frame_bytes")
            .because("a body can double in size when it is encoded as JSON")
            .remedy(format!(
                "set web.frame_bytes to {} or more",
                config.limits.body_bytes.saturating_mul(2)
            )));
    }
    if config.limits.extension_bytes > MOST_EXTENSION_BYTES {
        return Err(Trouble::new(format!("limits.extension_bytes may not be above {MOST_EXTENSION_BYTES}"))
            .because("a page of messages is read into memory as a whole"));
    }
    let too_small = [
        ("limits.body_bytes", u64::from(config.limits.body_bytes)),
        ("limits.page", u64::from(config.limits.page)),
        ("limits.sessions_per_user", u64::from(config.limits.sessions_per_user)),
        ("limits.sessions_per_site", u64::from(config.limits.sessions_per_site)),
        ("store.readers", config.store.readers as u64),
    ]
    .into_iter()
    .find(|(_, value)| *value == 0);
    if let Some((key, _)) = too_small {
        return Err(Trouble::new(format!("{key} may not be 0")));
    }
    if !OUTPUT_MEMORY_MIB.contains(&config.edge.output_memory_mib) {
        let (least, most) = (OUTPUT_MEMORY_MIB.start(), OUTPUT_MEMORY_MIB.end());
        return Err(Trouble::new(format!("edge.output_memory_mib must be from {least} to {most}"))
            .remedy("the default is 256; sessions that read too slowly lose their queue above it"));
    }
    if config.edge.socket_buffer_kib > MOST_SOCKET_BUFFER_KIB {
        return Err(Trouble::new(format!(
            "edge.socket_buffer_kib may not be above {MOST_SOCKET_BUFFER_KIB}"
        ))
        .remedy("0 lets the system choose the size"));
    }
    check_files(&config.files, config.database.is_some())?;
    check_mail(config)?;
    check_slots(config)?;
    let contact = &config.push.contact;
    if !(contact.is_empty() || contact.starts_with("mailto:") || contact.starts_with("https://")) {
        return Err(
            Trouble::new("push.contact is not an address").remedy("write it as mailto:me@example.com")
        );
    }
    // Browsers choose the address that is called, so a service outside the public network must be named by the operator.
    if !config.push.authority.is_empty() && config.push.services.split(',').any(|name| name.trim() == "*") {
        return Err(Trouble::new(
            "push.authority and push.services = \"*\" would let anybody reach your network",
        )
        .remedy("name your own push service in push.services"));
    }
    check_times(&config.web)?;
    crate::xmpp::check(config)?;
    crate::calls::check(config)
}

fn check_files(files: &Files, has_server: bool) -> Outcome {
    let is_origin = files.url.starts_with("https://") || files.url.starts_with("http://");
    if !files.url.is_empty() && !is_origin {
        return Err(Trouble::new(format!("files.url may not be {}", files.url))
            .remedy("set an origin, for example https://files.example, or leave it out"));
    }
    let (hour, month) = (Span::seconds(3_600), Span::seconds(30 * 24 * 3_600));
    let spans = [
        ("files.link_life", files.link_life),
        ("files.unsent_life", files.unsent_life),
        ("files.open_life", files.open_life),
    ];
    for (key, value) in spans {
        if value < hour || value > month {
            return Err(Trouble::new(format!("{key} may not be {value}"))
                .remedy(format!("set {key} between {hour} and {month}, or leave it out")));
        }
    }
    if !files.folder.is_empty() && !has_server {
        return Err(Trouble::new("files.folder needs a database of PostgreSQL")
            .because("`kith backup` copies the files of the data directory")
            .remedy("set database, or leave files.folder out and mount the other disk at DATA/files"));
    }
    crate::files::check(files)
}

/// Each home has some connections with PostgreSQL, which has a few hundred.
const MOST_SLOTS: u8 = 64;

fn check_slots(config: &Config) -> Outcome {
    let cluster = &config.cluster;
    if !(1..=MOST_SLOTS).contains(&cluster.slots) {
        return Err(Trouble::new(format!("cluster.slots must be from 1 to {MOST_SLOTS}")));
    }
    if cluster.slot >= cluster.slots {
        return Err(Trouble::new("cluster.slot must be smaller than cluster.slots")
            .remedy("leave cluster.slot out: a node with several homes sets it for each of them"));
    }
    if cluster.slots > 1 && cluster.role == ClusterRole::Home && config.database.is_none() {
        return Err(Trouble::new("cluster.slots needs a database of PostgreSQL")
            .because("homes of several slots share one")
            .remedy("set database, or leave cluster.slots out"));
    }
    Ok(())
}

fn check_mail(config: &Config) -> Outcome {
    let Mail { relay, from, after } = &config.mail;
    if relay.is_empty() {
        return Ok(());
    }
    // The address has a password in it, so it is not repeated.
    if let Err(error) = crate::mail::relay(relay) {
        return Err(Trouble::new("mail.relay is not the address of a mail relay")
            .because(error)
            .remedy("write it as smtps://user:password@smtp.example.com"));
    }
    if from.parse::<lettre::message::Mailbox>().is_err() {
        return Err(Trouble::new("mail.from is not an address").remedy("write it as kith@example.com"));
    }
    if config.public_url.is_none() {
        return Err(Trouble::new("mail needs public_url")
            .because("each mail has a link to unsubscribe")
            .remedy("set public_url to the address of this node for browsers"));
    }
    let (least, most) = (Span::seconds(60), Span::seconds(7 * 86_400));
    match *after >= least && *after <= most {
        true => Ok(()),
        false => Err(Trouble::new(format!("mail.after may not be {after}"))
            .remedy(format!("set it from {least} to {most}"))),
    }
}

/// Limits that clients rely on: `docs/protocol.md` promises them.
fn check_times(web: &Web) -> Outcome {
    let hour = Span::seconds(3_600);
    let ranges = [
        // Clients send a frame at least every 50 s.
        ("web.idle", web.idle, Span::seconds(60), hour),
        ("web.heartbeat", web.heartbeat, Span::seconds(1), Span::seconds(60)),
        // They give up a poll after 35 s.
        ("web.poll_wait", web.poll_wait, Span::seconds(1), Span::seconds(30)),
        ("web.poll_gap", web.poll_gap, Span::seconds(10), hour),
        ("web.keep_alive", web.keep_alive, Span::seconds(1), hour),
    ];
    match ranges.into_iter().find(|(_, value, least, most)| value < least || value > most) {
        None => Ok(()),
        Some((key, value, least, most)) => Err(Trouble::new(format!("{key} may not be {value}"))
            .because(format!("clients need {least} to {most}"))
            .remedy(format!("set {key} in this range, or leave it out"))),
    }
}
