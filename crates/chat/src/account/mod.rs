//! A user's own account: profile, devices, export, erasure, and the guest who becomes a member.

pub(crate) mod devices;
pub(crate) mod erasure;
pub(crate) mod export;
pub(crate) mod guest_merge;
pub(crate) mod profile;
