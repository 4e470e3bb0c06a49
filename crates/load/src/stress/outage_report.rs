//! The figures of a stress in which a process was killed.

use std::time::Duration;

use super::members::Tally;
use crate::kill::Kill;
use crate::outage::Outage;
use crate::percentiles::Percentiles;
use crate::report::Measure;

pub(super) fn measures(kill: &Kill, outage: &Outage, tally: &Tally) -> Vec<Measure> {
    let ms = |time: Option<Duration>| time.map(|time| time.as_secs_f64() * 1e3);
    let (on_dead, elsewhere) = outage.closed_on(kill.front);
    // The end of a front concerns its own members only.
    let pairs = if kill.front.is_some() { tally.watchers_of_lost } else { tally.watched };
    let flaps = (pairs > 0).then(|| tally.flapped as f64 / pairs as f64 * 100.0);
    let mut measures = vec![
        Measure::new(
            "kill.pause_ms",
            "outage: longest time without a delivery",
            "ms",
            ms(outage.longest_pause()),
        ),
        Measure::new(
            "kill.longest_delivery_ms",
            "outage: longest delivery",
            "ms",
            tally.delivery.max() as f64 / 1e3,
        ),
        Measure::new(
            "kill.first_ack_ms",
            "outage: until the first acknowledgement",
            "ms",
            ms(outage.first_ack()),
        ),
        Measure::new(
            "kill.stored",
            "stored messages, by the numbers of conversations",
            "",
            tally.stored_twice / 2,
        ),
        Measure::new(
            "kill.closed_elsewhere",
            "outage: connections that ended on other fronts",
            "",
            elsewhere,
        ),
        Measure::new(
            "kill.closed_idle",
            "outage: ended connections without an unacknowledged message",
            "",
            tally.lost_idle,
        ),
        Measure::new("kill.behind", "outage: sessions that had to read what they missed", "", tally.behind),
        Measure::new("kill.not_resumed", "outage: had to begin anew", "members", tally.not_resumed),
        Measure::new("kill.back", "outage: came back", "members", tally.back.len()),
        Measure::new("kill.pairs", "outage: pairs of a watcher and a member concerned", "pairs", pairs),
        Measure::new("kill.flapped", "outage: watchers who saw a member leave", "pairs", tally.flapped),
        Measure::new("kill.flaps_percent", "outage: seen to leave", "%", flaps),
        Measure::new(
            "kill.refusals",
            "outage: refused commands, which were repeated",
            "",
            tally.refused.values().sum::<u64>(),
        ),
        Measure::json_only("kill.closed_on_dead", on_dead),
        Measure::json_only("kill.repeated", tally.repeated),
        Measure::json_only("kill.caught_up", tally.caught_up),
        Measure::json_only("kill.gaps", tally.gaps),
        Measure::json_only("kill.fetched", tally.fetched),
    ];
    if !tally.back.is_empty() {
        measures.push(Measure::times(
            "kill.back_ms",
            "from the kill until a client is back",
            Percentiles::of(&tally.back),
        ));
    }
    measures
}
