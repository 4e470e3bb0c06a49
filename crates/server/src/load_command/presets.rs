//! The built-in plans.

pub(super) struct Preset {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        &[$(Preset { name: $name, text: include_str!(concat!("presets/", $name, ".toml")) }),*]
    };
}

pub(super) const ALL: &[Preset] = presets![
    "all",
    "papers",
    "mochiweb-10000",
    "sizing",
    "sizing-rosters",
    "flood",
    "flood-15k",
    "flood-transports",
    "stress",
    "stress-fixed-rate",
    "chut-10x5",
    "chut-10x10",
    "chut-100x10",
    "chut-100x15",
    "chut-750x10",
    "chut-core-10x5",
    "chut-core-10x10",
    "chut-core-100x10",
    "chut-core-100x15",
    "chut-core-750x10",
    "realistic",
    "chut-realistic-750x20",
    "storm",
    "storm-without-jitter",
    "storm-15k",
    "slow",
    "community",
    "tigase-100",
    "tigase-200",
    "tigase-400",
    "tigase-800",
    "tigase-idle",
    "tigase-100-tls",
    "million",
    "million-fronts",
    "typing",
    "typing-fixed-rate",
    "room",
    "calls",
    "avchat-calls",
    "short-calls",
    "turn",
    "short-turn",
    "visit",
    "avchat-3333",
    "avchat-10000",
    "avchat-6666",
    "mix",
    "erlang-mix",
    "erlang-mix-512mb",
    "short-flood",
    "short-stress",
    "short-realistic",
    "short-visit",
    "short-mix",
    "short-room",
    "short-typing",
    "erlang-study",
    "erlang-study-members",
    "erlang-study-messages",
    "short-study",
    "short-core",
    "short-slow",
    "short-community",
];

pub(super) fn find(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|preset| preset.name == name)
}
