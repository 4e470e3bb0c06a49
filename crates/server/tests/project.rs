//! Rules that hold for the whole project.

mod crate_arrows;
mod test_files;
mod unsafe_code;
