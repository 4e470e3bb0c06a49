//! `bench OPERATION TIMES` runs the operation this many times and nothing else, to be counted from outside. Without
//! arguments it prints the names.
#![allow(clippy::print_stdout, reason = "names are for scripts")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => {
            bench::OPERATIONS.iter().for_each(|operation| println!("{} {}", operation.name, operation.times))
        }
        [name, times] => {
            let (Some(operation), Ok(times)) = (bench::operation(name), times.parse::<u32>()) else {
                return ExitCode::FAILURE;
            };
            let mut once = (operation.begin)();
            (0..times).for_each(|_| once());
        }
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}
