//! The tests of the domain, in one binary: it is linked once, and the scene is compiled once.

#![allow(clippy::unwrap_used, reason = "tests")]

mod adoption;
mod app_passwords;
mod availability;
mod blocks;
mod callers;
mod calls;
mod calls_model;
mod changes;
mod contacts;
mod extensions;
mod files;
mod gathering;
mod group_calls;
mod guard;
mod guests;
mod invitations;
mod keys;
mod messages;
mod nonsense;
mod notifications;
mod port;
mod presence;
mod previews;
mod profiles;
mod published;
mod relations;
mod renaming;
mod retention;
mod rich;
mod room_joins;
mod room_requests;
mod room_sanctions;
mod rooms;
mod safety;
mod scene;
mod seen_by;
mod serialized_events;
mod sessions;
mod settings_schema;
mod simulation;
mod sub_domains;
mod threads;
mod tokens;
mod visibility;
