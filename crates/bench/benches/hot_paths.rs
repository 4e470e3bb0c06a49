//! Times each operation: `cargo bench -p bench`, or `cargo bench -p bench -- token` for operations with that name.

use bench::{OPERATIONS, operation};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

#[divan::bench(args = OPERATIONS.iter().map(|operation| operation.name))]
fn hot_path(bencher: Bencher<'_, '_>, name: &str) {
    let operation = operation(name).expect("the names are theirs");
    bencher.counter(ItemsCount::new(operation.times)).bench_local((operation.begin)());
}
