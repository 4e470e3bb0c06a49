//! The real binary, from outside: starts, requests, failures and stops.

#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "a test that cannot go on has failed")]

mod backup;
mod bad_input;
mod changes;
mod client;
mod cluster;
mod cluster_streams;
mod commands;
mod connections;
mod crash;
mod data_directory;
mod disk_full;
mod doctor;
mod embed_page;
mod encrypted_backup;
mod every_address;
mod files;
mod flood;
mod front_take_over;
mod guard;
mod guests;
mod import;
mod lifecycle;
mod load_nodes;
mod load_plans;
mod migrate;
#[path = "../../../store/tests/postgres/server.rs"]
mod postgres_server;
mod postgresql;
mod rolling_upgrade;
mod running;
mod settings;
mod sign_ins;
mod slots;
mod standby;
mod stickers;
mod take_over;
mod tls;
mod turn;
mod upload_of_app;
