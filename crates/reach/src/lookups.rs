//! Resolves names to addresses with the system's resolver, which may take half a minute and cannot be cancelled.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use tokio::sync::Semaphore;

/// Lookups at one time. Each holds a thread until the resolver answers, even if the caller has given up. Without a
/// bound, slow name servers that a stranger chooses would take all threads that read files.
const AT_ONCE: usize = 8;

type Resolve = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// Resolves names, at most [`AT_ONCE`] at a time; further lookups wait. Cheap to clone: clones share the bound.
#[derive(Clone)]
pub struct Lookups {
    places: Arc<Semaphore>,
    resolve: Arc<Resolve>,
}

impl Default for Lookups {
    fn default() -> Lookups {
        Lookups::by(|host, port| Ok((host, port).to_socket_addrs()?.collect()))
    }
}

impl Lookups {
    fn by(resolve: impl Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static) -> Lookups {
        Lookups { places: Arc::new(Semaphore::new(AT_ONCE)), resolve: Arc::new(resolve) }
    }

    pub(crate) async fn find(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)?;
        let (resolve, host) = (Arc::clone(&self.resolve), host.to_owned());
        let found = tokio::task::spawn_blocking(move || {
            let found = resolve(&host, port);
            drop(place);
            found
        });
        found.await.map_err(io::Error::other)?
    }
}

impl std::fmt::Debug for Lookups {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lookups")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, mpsc};
    use std::time::Duration;

    use super::*;

    /// A user links to 100 names whose servers do not answer, and the callers have given up.
    #[test]
    fn slow_name_servers_hold_few_threads() {
        let running = Arc::new(AtomicUsize::new(0));
        let (started, is_started) = mpsc::channel();
        let (answer, answers) = mpsc::channel::<()>();
        let (counted, answers) = (Arc::clone(&running), Mutex::new(answers));
        let lookups = Lookups::by(move |_, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            started.send(()).expect("the test waits for it");
            // The name servers answer one after the other. The end of the channel releases the rest.
            let _ = answers.lock().expect("nobody panics").recv();
            Ok(Vec::new())
        });
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
        let begin = |lookups: &Lookups| {
            let lookups = lookups.clone();
            runtime.spawn(async move { lookups.find("slow.example", 443).await })
        };
        let first: Vec<_> = (0..100).map(|_| begin(&lookups)).collect();
        for _ in 0..AT_ONCE {
            is_started.recv_timeout(Duration::from_secs(20)).expect("it begins");
        }
        for task in first {
            task.abort();
        }
        let waiting = begin(&lookups);
        assert_eq!((running.load(Ordering::SeqCst), lookups.places.available_permits()), (AT_ONCE, 0));
        // Other instances have threads and a bound of their own.
        let others = Lookups::by(|_, _| Ok(vec![([192, 0, 2, 1], 443).into()]));
        assert_eq!(runtime.block_on(others.find("quick.example", 443)).expect("it answers").len(), 1);
        drop(answer);
        assert!(runtime.block_on(waiting).expect("it was not called off").is_ok());
    }
}
