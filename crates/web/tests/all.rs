//! The tests of the gateway, in one binary: it is linked once, and the scene is compiled once.

#![allow(clippy::unwrap_used, reason = "tests")]

mod answers;
mod before_hello;
mod calls;
mod conversations;
mod every_command;
mod files;
mod full_mailbox;
mod given_up_sign_ins;
mod group_calls;
mod imports;
mod inbox;
mod invitations;
mod notifications;
mod people;
mod profiles;
mod requests;
mod rich;
mod rooms;
mod safety;
mod scene;
mod sessions;
mod sign_in_queue;
mod site_users;
mod stickers;
mod uploads;
mod websocket;
