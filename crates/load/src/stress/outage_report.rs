//! The figures of a stress in which a process died.

use std::time::Duration;

use super::members::Tally;
use crate::kill::Kill;
use crate::outage::Outage;
use crate::percentiles::Percentiles;
use crate::report::Measure;

pub(super) fn measures(kill: &Kill, outage: &Outage, tally: &Tally) -> Vec<Measure> {
    let ms = |time: Option<Duration>| time.map(|time| time.as_secs_f64() * 1e3);
    let (on_dead, elsewhere) = outage.closed_on(kill.front);
    let flaps =
        (tally.watchers_of_lost > 0).then(|| tally.flapped as f64 / tally.watchers_of_lost as f64 * 100.0);
    let mut measures = vec![
        Measure::new(
            "kill.pause_ms",
            "death: longest time without a delivery",
            "ms",
            ms(outage.longest_pause()),
        ),
        Measure::new(
            "kill.longest_delivery_ms",
            "death: longest delivery",
            "ms",
            tally.delivery.max() as f64 / 1e3,
        ),
        Measure::new(
            "kill.first_ack_ms",
            "death: until the first acknowledgement",
            "ms",
            ms(outage.first_ack()),
        ),
        Measure::new(
            "kill.stored",
            "stored messages, by the numbers of conversations",
            "",
            tally.stored_twice / 2,
        ),
        Measure::new("kill.closed_elsewhere", "death: connections that ended on other fronts", "", elsewhere),
        Measure::new(
            "kill.closed_idle",
            "death: ended connections without an unacknowledged message",
            "",
            tally.lost_idle,
        ),
        Measure::new("kill.behind", "death: sessions that had to read what they missed", "", tally.behind),
        Measure::new("kill.not_resumed", "death: had to begin anew", "members", tally.not_resumed),
        Measure::new("kill.back", "death: came back", "members", tally.back.len()),
        Measure::new(
            "kill.watchers_of_lost",
            "death: watchers of members who lost their connection",
            "pairs",
            tally.watchers_of_lost,
        ),
        Measure::new("kill.flapped", "death: watchers who saw a member leave", "pairs", tally.flapped),
        Measure::new("kill.flaps_percent", "death: seen to leave", "%", flaps),
        Measure::new(
            "kill.refusals",
            "death: refused commands, which were repeated",
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
            "from the death until a client is back",
            Percentiles::of(&tally.back),
        ));
    }
    measures
}
