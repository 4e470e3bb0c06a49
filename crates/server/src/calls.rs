//! Calls: the servers for clients, the secret that is shared with them, and our own server.

mod role;

use std::path::Path;
use std::sync::Arc;

use chat::{CallConfig, CallServers, Turn};

pub(crate) use role::{Old, Role, is_wanted, takes_relays};

use crate::config::{Calls, CallsFrom, Config};
use crate::trouble::{Outcome, Trouble};

/// Shorter ones can be guessed by anybody with one name and its password.
const SECRET_BYTES: usize = 16;

/// The domain's settings for calls. `own`: our own server, which clients try first. `shared`: see [`shared_secret`]. `has_fronts`: fronts
/// offer servers of their own, so members get credentials even if this node has none.
pub(crate) fn config(
    calls: &Calls,
    own: Option<&Role>,
    shared: Option<Arc<[u8]>>,
    has_fronts: bool,
) -> CallConfig {
    let CallServers { stun, turn: urls } = servers_for_clients(calls, own);
    let secret = own.map(Role::secret).or(shared).filter(|_| has_fronts || !urls.is_empty());
    CallConfig {
        from: match calls.from {
            CallsFrom::Nobody => chat::CallsFrom::Nobody,
            CallsFrom::Contacts => chat::CallsFrom::Contacts,
            CallsFrom::Everyone => chat::CallsFrom::Everyone,
        },
        most: calls.most,
        burst: calls.burst,
        per_minute: calls.per_minute,
        stun,
        turn: secret.map(|secret| Turn { urls, secret, life_ms: calls.turn_life.as_millis() }),
    }
}

/// Our own server, and those in the settings.
pub(crate) fn servers_for_clients(calls: &Calls, own: Option<&Role>) -> CallServers {
    let of_own = |urls: fn(&Role) -> &[Box<str>]| own.map(urls).unwrap_or_default().iter().cloned();
    CallServers {
        stun: of_own(Role::stun).chain(servers(&calls.stun)).collect(),
        turn: of_own(Role::turn).chain(servers(&calls.turn)).collect(),
    }
}

/// The secret of credentials that other servers know, too. None: the settings name none, and the node runs alone. `of_cluster`: all nodes
/// of the cluster derive it from their common secret.
pub(crate) fn shared_secret(calls: &Calls, of_cluster: Option<[u8; 32]>) -> Outcome<Option<Arc<[u8]>>> {
    match &*calls.turn_secret_file {
        "" => Ok(of_cluster.map(Arc::from)),
        path => secret(Path::new(path)).map(Some),
    }
}

/// Checks that need no secret.
pub(crate) fn check(config: &Config) -> Outcome {
    let calls = &config.calls;
    let like = |text: &str, schemes: [&str; 2]| {
        servers(text).iter().find(|url| !schemes.iter().any(|scheme| url.starts_with(scheme))).cloned()
    };
    for (key, wrong, example) in [
        ("calls.stun", like(&calls.stun, ["stun:", "stuns:"]), "stun:im.example:3478"),
        ("calls.turn", like(&calls.turn, ["turn:", "turns:"]), "turns:im.example:5349?transport=tcp"),
    ] {
        if let Some(wrong) = wrong {
            return Err(Trouble::new(format!(
                "{key} has `{wrong}`, which is not the address of such a server"
            ))
            .remedy(format!("for example: {key} = \"{example}\"; separate several by commas")));
        }
    }
    match (calls.turn.is_empty(), calls.turn_secret_file.is_empty()) {
        (false, true) => Err(Trouble::new("calls.turn needs a secret that its servers know")
            .remedy("set calls.turn_secret_file to a file with coturn's static-auth-secret")),
        // Another node of a cluster may have such a server.
        (true, false) if calls.listen == "off" && config.cluster.nats.is_empty() => {
            Err(Trouble::new("calls.turn_secret_file is set, but calls.turn names no server")
                .remedy("set calls.turn, for example to turn:im.example:3478, or set calls.listen"))
        }
        _ => role::check(calls),
    }
}

fn servers(text: &str) -> Vec<Box<str>> {
    text.split(',').map(str::trim).filter(|url| !url.is_empty()).map(Box::from).collect()
}

fn secret(path: &Path) -> Outcome<Arc<[u8]>> {
    let problem = || format!("cannot use the secret in {}", path.display());
    let text = std::fs::read(path)
        .map_err(|error| Trouble::new(problem()).because(error).remedy("calls.turn_secret_file names it"))?;
    let secret = text.trim_ascii();
    if secret.len() < SECRET_BYTES {
        return Err(Trouble::new(problem())
            .because(format!("it has {} bytes, but must have at least {SECRET_BYTES}", secret.len()))
            .remedy("openssl rand -base64 32 > FILE, and the same text as static-auth-secret of coturn"));
    }
    Ok(secret.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(stun: &str, turn: &str, file: &str) -> Calls {
        Calls { stun: stun.into(), turn: turn.into(), turn_secret_file: file.into(), ..Calls::default() }
    }

    #[test]
    fn contradicting_call_settings_are_reported() {
        let check = |calls: Calls| check(&Config { calls, ..Config::default() });
        assert!(check(calls("", "", "")).is_ok());
        assert!(check(calls("stun:a:1, stuns:b:2", "turn:a:1,turns:a:2?transport=tcp", "f")).is_ok());
        let message = |calls: Calls| check(calls).expect_err("it is wrong").to_string();
        assert!(message(calls("im.example", "", "")).contains("stun:im.example:3478"));
        assert!(message(calls("", "stun:im.example", "f")).contains("`stun:im.example`"));
        assert!(message(calls("", "turn:im.example", "")).contains("turn_secret_file"));
        assert!(check(calls("", "", "f")).is_ok(), "our own server's");
        let off = Calls { listen: "off".into(), ..calls("", "", "f") };
        assert!(message(off.clone()).contains("names no server"));
        let mut config = Config { calls: off, ..Config::default() };
        config.cluster.nats = "nats://10.0.0.1".into();
        assert!(super::check(&config).is_ok(), "fronts have servers");
    }

    #[test]
    fn a_secret_is_read_without_its_line_end_and_not_taken_where_it_is_short() {
        let path = std::env::temp_dir().join(format!("kith-turn-secret-{}", std::process::id()));
        std::fs::write(&path, "0123456789abcdef\n").expect("it is writable");
        let read = || {
            let calls = calls("stun:a:1", "turn:a:1", &path.display().to_string());
            let secret = shared_secret(&calls, Some([7; 32]))?;
            Ok::<_, Trouble>(config(&calls, None, secret, false))
        };
        let made = read().expect("all is well");
        assert_eq!(made.turn.map(|turn| turn.secret.to_vec()), Some(b"0123456789abcdef".to_vec()));
        std::fs::write(&path, "north\n").expect("it is writable");
        let trouble = read().expect_err("too short");
        assert!(trouble.to_string().contains("5 bytes"), "{trouble}");
        std::fs::remove_file(&path).expect("it is there");
        let trouble = read().expect_err("no file");
        assert!(trouble.to_string().contains("turn_secret_file"), "{trouble}");
    }

    #[test]
    fn a_home_without_servers_makes_credentials_for_those_of_its_fronts() {
        let none = calls("", "", "");
        let secret = || shared_secret(&none, Some([7; 32])).expect("no file is read");
        let turn = config(&none, None, secret(), true).turn.expect("for its fronts");
        assert!(turn.urls.is_empty() && *turn.secret == [7; 32]);
        assert!(config(&none, None, secret(), false).turn.is_none());
        assert!(shared_secret(&none, None).expect("no file is read").is_none(), "a node alone draws one");
    }
}
