//! What the parts of a node have counted, named for `/metrics`: `kith_<part>_<what>`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chat::Node;
use edge::Counters;
use store::Sqlite;
use web::Transport;

use crate::metrics::{Sample, Source};
use crate::{logging, mail, push};

/// Connections, bytes, and why connections ended.
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
            "Mistakes of TLS peers: no host name as SNI, renegotiation and the like.",
            logging::tls_peer_mistakes(),
        ));
        samples
    })
}

/// A counter that is new there has no help yet; the test below finds it.
fn of_edge_help(name: &str) -> &'static str {
    match name {
        "accepted" => "Connections taken from a listener.",
        "connected" => "Connections that the node has made itself.",
        "over_limit" => "Connections closed at once, because edge.max_connections was reached.",
        "over_address_limit" => {
            "Connections closed at once, or requests refused, because edge.connections_per_address was reached."
        }
        "no_descriptors" => "Connections closed at once or left to wait, because no descriptor was free.",
        "accept_errors" => "Connections that could not be accepted for another reason.",
        "bytes_in" => "Bytes received, before decryption.",
        "bytes_out" => "Bytes sent, after encryption.",
        "handshakes_begun" => "TLS handshakes begun.",
        "handshakes_done" => "TLS handshakes finished.",
        "panics" => "Panics of the protocol that cost one connection: a bug, please report it.",
        "bytes_dropped" => "Bytes of output dropped, because their reader was too slow.",
        "output_reclaimed" => {
            "Connections that lost their pending output, because of edge.output_memory_mib."
        }
        "turns" => "Turns of the event loops.",
        _ => "",
    }
}

/// Requests, frames, and those that were refused.
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
                Sample::counter("kith_web_requests", "Requests answered, by what answers them.", count.read())
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
                ("behind", "Sessions whose queue was dropped.", &counters.behind),
                (
                    "typing_dropped",
                    "Typing notices that a slow session did not get.",
                    &counters.typing_dropped,
                ),
                (
                    "presence_coalesced",
                    "Changes of presence that a slow session gets together.",
                    &counters.presence_coalesced,
                ),
                ("websocket_violations", "Peers that broke RFC 6455.", &counters.websocket_violations),
                ("undeliverable", "Events for sessions that were gone.", &counters.undeliverable),
                (
                    "untrusted_forwarded",
                    "Requests that a proxy passed on which is not trusted.",
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
            Sample::counter(
                "kith_web_offences",
                "HTTP requests refused for their form, by the offence.",
                count,
            )
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
            Sample::gauge("kith_chat_users_online", "Users with at least one session.", stats.users_online),
            Sample::gauge("kith_chat_sites", "Sites that the node serves.", stats.sites),
            Sample::gauge(
                "kith_chat_sites_unreadable",
                "Sites whose stored settings cannot be read; the strictest values apply to them.",
                stats.sites_unreadable,
            ),
            Sample::counter("kith_chat_sign_ins", "Sessions begun.", stats.sign_ins),
            Sample::counter("kith_chat_new_guests", "Guests who had never been here.", stats.new_guests),
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
            Sample::counter("kith_chat_repeated", "Sends of an id that was stored before.", stats.repeated),
            Sample::counter("kith_chat_changes", "Edits, deletions and reactions stored.", stats.changes),
            Sample::counter("kith_chat_deliveries", "Messages handed to sessions.", stats.deliveries),
            Sample::counter("kith_chat_behind", "Sessions that read too slowly.", stats.behind),
            Sample::counter(
                "kith_chat_positions_ahead",
                "Clients that were ahead of the store.",
                stats.positions_ahead,
            ),
            Sample::gauge("kith_chat_calls", "Calls that ring or are under way.", stats.calls),
            Sample::counter("kith_chat_calls_begun", "Calls that have rung.", stats.calls_begun),
            Sample::counter("kith_chat_calls_accepted", "Calls that were accepted.", stats.calls_accepted),
        ];
        let refusals = stats.refusals.into_iter();
        samples.extend(refusals.map(|(word, count)| {
            Sample::counter("kith_chat_refusals", "Refusals, by their code.", count).labelled("code", word)
        }));
        samples
    })
}

/// Relays, what passed through them, and what did not.
pub(crate) fn of_calls(running: &calls::Calls) -> Source {
    let (counters, sites, edge) = (running.counters(), running.sites(), running.connections());
    Box::new(move || {
        let sites = sites.each();
        let open = sites.iter().map(|site| site.open()).sum();
        let mut samples = vec![
            Sample::gauge("kith_calls_relays", "Relays now.", open),
            Sample::gauge("kith_calls_connections", "Clients over TCP and TLS now.", edge.totals().open),
            Sample::counter("kith_calls_allocations", "Relays made.", counters.allocations.read()),
            Sample::counter("kith_calls_bindings", "STUN questions answered.", counters.bindings.read()),
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
                Sample::counter(
                    "kith_calls_dropped",
                    "Packets that went nowhere, by the reason.",
                    count.read(),
                )
                .labelled("why", why)
            }),
        );
        samples.extend(counters.refusals().map(|refused| {
            Sample::counter("kith_calls_refusals", "Requests refused, by their code.", refused.times)
                .labelled("code", refused.word)
        }));
        // Families follow each other whole, so each is gone through by itself.
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

/// Notices for browsers of those who are away.
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
                "Notices, by what became of them.",
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
                "Digests, by what became of them.",
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
            Sample::counter("kith_store_commits", "Transactions that the writes took.", stats.commits),
            Sample::gauge("kith_store_largest_batch", "Most writes of one transaction.", stats.largest_batch),
            Sample::seconds(
                "kith_store_commit_seconds",
                "Time in transactions, the wait for the disk included.",
                stats.commit_nanos as f64 / 1e9,
            ),
            Sample::counter("kith_store_reads", "Reads answered.", stats.reads),
            Sample::counter("kith_store_overloaded", "Requests refused by a full queue.", stats.overloaded),
            Sample::counter("kith_store_disk_full", "Writes refused by a full disk.", stats.disk_full),
            Sample::counter("kith_store_failed", "Requests that failed otherwise.", stats.failed),
            Sample::counter("kith_store_panics", "Completions that panicked: our mistake.", stats.panics),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_of_the_edge_says_what_it_counts() {
        let totals = edge::Totals::default();
        let plain = totals.each().filter(|(name, _)| *name != "open" && !name.starts_with("closed_"));
        let mute: Vec<_> = plain.filter(|(name, _)| of_edge_help(name).is_empty()).collect();
        assert!(mute.is_empty(), "{mute:?}");
    }
}
