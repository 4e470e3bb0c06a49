//! The counters of a node's parts with their names for `/metrics`: `kith_<part>_<what>`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chat::Node;
use edge::Counters;
use store::Sqlite;
use web::Transport;

use crate::metrics::{Sample, Source};
use crate::{logging, mail, push};

/// Connections, bytes, and reasons of ended connections.
pub(crate) fn of_edge(counters: Arc<Counters>) -> Source {
    Box::new(move || {
        let totals = counters.totals();
        let figure = |(name, value): (&'static str, u64)| match name {
            "open" => Sample::gauge("kith_edge_open", "Connections open now.", value),
            _ => match name.strip_prefix("closed_") {
                Some(why) => {
                    Sample::counter("kith_edge_closed", "Connections that ended, by the reason.", value)
                        .labelled("why", why)
                }
                None => Sample::counter(format!("kith_edge_{name}"), of_edge_help(name), value),
            },
        };
        let mut samples: Vec<Sample> = totals.each().map(figure).collect();
        samples.push(Sample::counter(
            "kith_edge_tls_peer_mistakes",
            "Errors of TLS clients, such as an invalid SNI or a renegotiation.",
            logging::tls_peer_mistakes() + totals.renegotiations_refused,
        ));
        samples
    })
}

/// A new counter has no help text yet; the test below finds it.
fn of_edge_help(name: &str) -> &'static str {
    match name {
        "accepted" => "Connections accepted from a listener.",
        "connected" => "Outgoing connections.",
        "handed_over" => "Connections handed over to another gateway.",
        "taken_over" => "Connections taken over from another gateway.",
        "over_limit" => "Connections closed at once, because edge.max_connections was reached.",
        "over_address_limit" => {
            "Connections closed at once, or requests refused, because edge.connections_per_address was reached."
        }
        "no_descriptors" => "Connections closed at once or not accepted, because no descriptor was free.",
        "accept_errors" => "Connections that could not be accepted for another reason.",
        "bytes_in" => "Bytes received, before decryption.",
        "bytes_out" => "Bytes sent, after encryption.",
        "handshakes_begun" => "TLS handshakes begun.",
        "handshakes_done" => "TLS handshakes finished.",
        "renegotiations_refused" => {
            "Renegotiations of TLS 1.2 refused, without those that rustls counts as mistakes."
        }
        "panics" => "Panics of the protocol that cost one connection: a bug, please report it.",
        "bytes_dropped" => "Bytes of output dropped, because their reader was too slow.",
        "output_reclaimed" => {
            "Connections that lost their pending output, because of edge.output_memory_mib."
        }
        "turns" => "Turns of the event loops.",
        _ => "",
    }
}

/// Sessions, stanzas, and streams that ended with an error.
pub(crate) fn of_xmpp(counters: Arc<::xmpp::Counters>) -> Source {
    Box::new(move || {
        let counter = |name: &str, help, count: &::xmpp::Counter| {
            Sample::counter(format!("kith_xmpp_{name}"), help, count.read())
        };
        vec![
            Sample::gauge("kith_xmpp_sessions", "XMPP sessions now.", counters.sessions.read()),
            counter("stanzas_in", "Stanzas of XMPP clients.", &counters.stanzas_in),
            counter("stanzas_out", "Stanzas sent to XMPP clients.", &counters.stanzas_out),
            counter(
                "authentication_failures",
                "Sign-ins of XMPP clients that failed for a wrong password or token.",
                &counters.authentication_failures,
            ),
            counter(
                "stream_errors",
                "XMPP streams that this server ended with an error.",
                &counters.stream_errors,
            ),
            counter(
                "too_slow",
                "XMPP streams that ended because their client read too slowly.",
                &counters.too_slow,
            ),
        ]
    })
}

/// Requests, frames, and refusals.
pub(crate) fn of_web(counters: Arc<web::Counters>) -> Source {
    Box::new(move || {
        let requests = [
            ("realtime", &counters.requests_realtime),
            ("assets", &counters.requests_assets),
            ("rest", &counters.requests_rest),
        ];
        let mut samples: Vec<Sample> = requests
            .into_iter()
            .map(|(kind, count)| {
                Sample::counter("kith_web_requests", "Answered requests, by handler.", count.read())
                    .labelled("kind", kind)
            })
            .collect();
        samples.extend(Transport::ALL.map(|transport| {
            Sample::gauge("kith_web_sessions", "Sessions now, by transport.", counters.sessions(transport))
                .labelled("transport", transport.word())
        }));
        samples.extend(
            [
                ("frames_in", "Frames received from clients.", &counters.frames_in),
                ("frames_out", "Frames sent to clients.", &counters.frames_out),
                ("behind", "Sessions that fell behind, whose queue was dropped.", &counters.behind),
                (
                    "typing_dropped",
                    "Typing notices that a slow session did not get.",
                    &counters.typing_dropped,
                ),
                (
                    "presence_coalesced",
                    "Changes of presence that a slow session gets in one event.",
                    &counters.presence_coalesced,
                ),
                ("websocket_violations", "Clients that violated RFC 6455.", &counters.websocket_violations),
                (
                    "sign_ins_queued",
                    "WebSockets that had to wait for their sign-in.",
                    &counters.sign_ins_queued,
                ),
                ("undeliverable", "Events for ended sessions.", &counters.undeliverable),
                (
                    "untrusted_forwarded",
                    "Requests through a proxy that is not in web.trusted_proxies.",
                    &counters.untrusted_forwarded,
                ),
            ]
            .map(|(name, help, count)| Sample::counter(format!("kith_web_{name}"), help, count.read())),
        );
        samples.extend(counters.codes().map(|(code, count)| {
            Sample::counter("kith_web_codes", "Errors and ends of sessions sent to clients, by code.", count)
                .labelled("code", code)
        }));
        samples.extend(counters.offences().map(|(offence, count)| {
            Sample::counter("kith_web_offences", "Malformed HTTP requests, by offence.", count)
                .labelled("offence", offence)
        }));
        samples
    })
}

/// Present users, messages, and refusals.
pub(crate) fn of_chat(node: Arc<Node>) -> Source {
    Box::new(move || {
        let stats = node.stats();
        let mut samples = vec![
            Sample::gauge("kith_chat_sessions", "Signed-in sessions now.", stats.sessions),
            Sample::gauge(
                "kith_chat_sessions_adopting",
                "Sessions of fronts or of another node that this one is adopting now.",
                stats.adopting,
            ),
            Sample::gauge("kith_chat_users_online", "Users with at least one session.", stats.users_online),
            Sample::gauge("kith_chat_sites", "Sites that the node serves.", stats.sites),
            Sample::gauge(
                "kith_chat_sites_unreadable",
                "Sites whose stored settings cannot be read; the strictest values apply to them.",
                stats.sites_unreadable,
            ),
            Sample::counter("kith_chat_sign_ins", "Sessions begun.", stats.sign_ins),
            Sample::counter("kith_chat_new_guests", "New guests.", stats.new_guests),
            Sample::counter(
                "kith_chat_guests_refused",
                "New guests refused, because too many came from their address.",
                stats.guests_refused,
            ),
            Sample::counter(
                "kith_chat_requests_refused",
                "Requests of REST, files and ICE beyond a rate of their user, address or site.",
                stats.requests_refused,
            ),
            Sample::counter("kith_chat_messages", "Messages stored, each once.", stats.messages),
            Sample::counter("kith_chat_repeated", "Repeated sends with a stored id.", stats.repeated),
            Sample::counter("kith_chat_changes", "Edits, deletions and reactions stored.", stats.changes),
            Sample::counter("kith_chat_deliveries", "Messages delivered to sessions.", stats.deliveries),
            Sample::counter("kith_chat_behind", "Sessions that read too slowly.", stats.behind),
            Sample::counter(
                "kith_chat_positions_ahead",
                "Clients that were ahead of the store.",
                stats.positions_ahead,
            ),
            Sample::gauge("kith_chat_calls", "Ringing and active calls now.", stats.calls),
            Sample::counter("kith_chat_calls_begun", "Ringing calls since the start.", stats.calls_begun),
            Sample::counter("kith_chat_calls_accepted", "Accepted calls.", stats.calls_accepted),
        ];
        let refusals = stats.refusals.into_iter();
        samples.extend(refusals.map(|(word, count)| {
            Sample::counter("kith_chat_refusals", "Refusals, by their code.", count).labelled("code", word)
        }));
        samples
    })
}

/// Relays, relayed data, and dropped packets.
pub(crate) fn of_calls(running: &calls::Calls) -> Source {
    let (counters, sites, edge) = (running.counters(), running.sites(), running.connections());
    Box::new(move || {
        let sites = sites.each();
        let open = sites.iter().map(|site| site.open()).sum();
        let mut samples = vec![
            Sample::gauge("kith_calls_relays", "Relays now.", open),
            Sample::gauge("kith_calls_connections", "Clients over TCP and TLS now.", edge.totals().open),
            Sample::counter("kith_calls_allocations", "Relays made.", counters.allocations.read()),
            Sample::counter("kith_calls_bindings", "Answered STUN requests.", counters.bindings.read()),
        ];
        samples.extend(
            [
                ("strange", &counters.strange),
                ("unproven", &counters.unanswered),
                ("not_permitted", &counters.not_permitted),
                ("over_bandwidth", &counters.over_bandwidth),
                ("unsent", &counters.unsent),
            ]
            .map(|(why, count)| {
                Sample::counter("kith_calls_dropped", "Dropped packets, by reason.", count.read())
                    .labelled("why", why)
            }),
        );
        samples.extend(counters.refusals().map(|refused| {
            Sample::counter("kith_calls_refusals", "Requests refused, by their code.", refused.times)
                .labelled("code", refused.word)
        }));
        // A family's samples must be adjacent, so each family has its own loop.
        let of_sites = |name: &'static str, help, read: fn(&calls::Site) -> u64| {
            let sample = move |site: &Arc<calls::Site>| {
                Sample::counter(name, help, read(site)).labelled("site", site.number.to_string())
            };
            sites.iter().map(sample).collect::<Vec<_>>()
        };
        let to_peers = |site: &calls::Site| site.to_peers.read();
        let to_clients = |site: &calls::Site| site.to_clients.read();
        samples.extend(of_sites("kith_calls_bytes_to_peers", "Relayed for members of a site.", to_peers));
        samples.extend(of_sites("kith_calls_bytes_to_clients", "Relayed to members of a site.", to_clients));
        samples
    })
}

/// Push notifications of absent members.
pub(crate) fn of_push(counters: Arc<push::Counters>) -> Source {
    Box::new(move || {
        let outcomes = [
            ("sent", &counters.sent),
            ("gone", &counters.gone),
            ("refused", &counters.refused),
            ("failed", &counters.failed),
            ("dropped", &counters.dropped),
        ];
        let sample = |(outcome, count): (&'static str, &AtomicU64)| {
            Sample::counter(
                "kith_push_notices",
                "Push notifications, by outcome.",
                count.load(Ordering::Relaxed),
            )
            .labelled("outcome", outcome)
        };
        outcomes.into_iter().map(sample).collect()
    })
}

/// Digests by e-mail.
pub(crate) fn of_mail(counters: Arc<mail::Counters>) -> Source {
    Box::new(move || {
        let outcomes =
            [("sent", &counters.sent), ("failed", &counters.failed), ("dropped", &counters.dropped)];
        let sample = |(outcome, count): (&'static str, &AtomicU64)| {
            Sample::counter(
                "kith_mail_digests",
                "Digests by mail, by outcome.",
                count.load(Ordering::Relaxed),
            )
            .labelled("outcome", outcome)
        };
        outcomes.into_iter().map(sample).collect()
    })
}

/// Requests, transactions and their time.
pub(crate) fn of_store(store: Arc<Sqlite>) -> Source {
    Box::new(move || {
        let stats = store.stats();
        vec![
            Sample::gauge("kith_store_write_queue", "Writes that wait now.", stats.write_queue),
            Sample::gauge("kith_store_read_queue", "Reads that wait now.", stats.read_queue),
            Sample::counter("kith_store_writes", "Writes answered.", stats.writes),
            Sample::counter("kith_store_commits", "Write transactions.", stats.commits),
            Sample::gauge("kith_store_largest_batch", "Most writes of one transaction.", stats.largest_batch),
            Sample::seconds(
                "kith_store_commit_seconds",
                "Time in transactions, including the wait for the disk.",
                stats.commit_nanos as f64 / 1e9,
            ),
            Sample::counter("kith_store_reads", "Reads answered.", stats.reads),
            Sample::counter("kith_store_overloaded", "Requests refused by a full queue.", stats.overloaded),
            Sample::counter("kith_store_disk_full", "Writes refused by a full disk.", stats.disk_full),
            Sample::counter("kith_store_failed", "Failed requests for other reasons.", stats.failed),
            Sample::counter(
                "kith_store_panics",
                "Panics in completions: a bug, please report it.",
                stats.panics,
            ),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_of_the_edge_has_a_help_text() {
        let totals = edge::Totals::default();
        let plain = totals.each().filter(|(name, _)| *name != "open" && !name.starts_with("closed_"));
        let mute: Vec<_> = plain.filter(|(name, _)| of_edge_help(name).is_empty()).collect();
        assert!(mute.is_empty(), "{mute:?}");
    }
}
