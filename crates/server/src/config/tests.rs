use std::path::PathBuf;

use super::layers::keys;
use super::*;

const EXAMPLE: &str = include_str!("../../../../kith.example.toml");
const GUIDE: &str = include_str!("../../../../docs/operate.md");

#[test]
fn a_flag_wins_over_a_variable_over_the_file_over_the_default() {
    let file = Scratch::with("http = \"127.0.0.1:1\"\n[limits]\npage = 7\nwatch = 8\n");
    let loaded = load(Layers {
        file: Some(file.path.clone()),
        variables: vec![
            ("KITH_HTTP".into(), "127.0.0.1:2".into()),
            ("KITH_LIMITS_WATCH".into(), "9".into()),
            ("KITH_ECHO".into(), "true".into()),
        ],
        flags: vec![("http", "127.0.0.1:3".into())],
    })
    .expect("all is well");
    let config = &loaded.config;
    assert_eq!(config.http.port(), 3);
    assert_eq!((config.limits.page, config.limits.watch), (7, 9));
    assert!(config.echo);
    assert_eq!(config.limits.body_bytes, 8_192);
    let source = |key: &str| loaded.settings[key].1.to_string();
    assert_eq!(source("http"), "flag");
    assert_eq!(source("limits.watch"), "KITH_LIMITS_WATCH");
    assert_eq!(source("limits.page"), file.path.display().to_string());
    assert_eq!(source("limits.contacts"), "default");
}

#[test]
fn errors_name_their_place() {
    let message = |text: &str| {
        let file = Scratch::with(text);
        load(Layers { file: Some(file.path.clone()), ..Layers::default() }).expect_err(text).to_string()
    };
    assert!(message("htpp = \"127.0.0.1:1\"").contains("unknown field `htpp`"));
    assert!(message("\n\nhttp = 5").contains("line 3"));
    assert!(message("[limits]\nbody_bytes = -1").contains("line 2"));
    assert!(message("[presence]\ngrace = \"ten\"").contains("as in 10s"));
    assert!(message("not toml at all").contains("line 1"));
    assert!(message("https = \"127.0.0.1:8443\"").contains("--tls-cert"));
    assert!(message("tls_cert = \"x\"\ntls_key = \"y\"").contains("--https"));
    assert!(message("[limits]\nbody_bytes = 60000").contains("120000"));
    assert!(message("[limits]\nextension_bytes = 262145").contains("may not be above 262144"));
    for (setting, range) in [
        ("idle = \"59s\"", "1m to 1h"),
        ("idle = \"2h\"", "1m to 1h"),
        ("heartbeat = \"0s\"", "1s to 1m"),
        ("heartbeat = \"2m\"", "1s to 1m"),
        ("poll_wait = \"31s\"", "1s to 30s"),
        ("poll_gap = \"9s\"", "10s to 1h"),
        ("keep_alive = \"999ms\"", "1s to 1h"),
    ] {
        assert!(message(&format!("[web]\n{setting}")).contains(range), "{setting}");
    }
    assert!(message("[web]\ntrusted_proxies = \"10.0.0.0/8, localhost\"").contains("`localhost`"));
    assert!(message("[mail]\nrelay = \"mail.example.com\"").contains("smtps://"));
    let relay = "relay = \"smtp://127.0.0.1:25\"";
    assert!(message(&format!("[mail]\n{relay}\nfrom = \"kith\"")).contains("mail.from"));
    assert!(message(&format!("[mail]\n{relay}\nfrom = \"kith@example.com\"")).contains("public_url"));
    assert!(message("[push]\ncontact = \"me@example.com\"").contains("mailto:"));
    assert!(
        message("[push]\nservices = \"a.example, *\"\nauthority = \"own.pem\"")
            .contains("your own push service")
    );
    assert!(message("[store]\nreaders = 0").contains("store.readers may not be 0"));
    assert!(message("[edge]\noutput_memory_mib = 1").contains("16 to 65536"));
    assert!(message("[edge]\nsocket_buffer_kib = 65537").contains("0 lets the system choose"));
    assert!(message("[files]\nurl = \"files.example\"").contains("https://files.example"));
    assert!(message("[files]\nfolder = \"/srv/files\"").contains("needs a database of PostgreSQL"));
    assert!(message("[files]\nlink_life = \"10s\"").contains("files.link_life"));
    assert!(message("[files]\nunsent_life = \"90d\"").contains("files.unsent_life"));
    let missing = load(Layers { file: Some("/no/such.toml".into()), ..Layers::default() });
    assert!(missing.expect_err("no file").to_string().contains("--config"));
}

#[test]
fn a_variable_that_is_no_setting_or_no_value_is_named() {
    let message = |name: &str, text: &str| {
        let variables = vec![(name.to_owned(), text.to_owned())];
        load(Layers { variables, ..Layers::default() }).expect_err(name).to_string()
    };
    assert!(message("KITH_HTPP", "x").contains("KITH_HTPP=x"));
    assert!(message("KITH_ECHO", "maybe").contains("true or false"));
    assert!(message("KITH_EDGE_WORKERS", "two").contains("whole number"));
    assert!(message("KITH_HTTP", "nowhere").contains("KITH_HTTP=nowhere"));
    assert!(message("KITH_LOG_FORMAT", "xml").contains("KITH_LOG_FORMAT"));
}

#[test]
fn the_example_file_has_the_defaults() {
    let config: Config = toml::from_str(EXAMPLE).expect("kith.example.toml is valid");
    assert_eq!(config, Config::default());
}

#[test]
fn the_example_and_the_guide_have_every_setting() {
    for key in keys() {
        let last = key.rsplit('.').next().expect("a key has a name");
        assert!(EXAMPLE.contains(&format!("{last} = ")), "kith.example.toml lacks {key}");
        assert!(GUIDE.contains(&format!("`{key}`")), "docs/operate.md lacks `{key}`");
    }
}

struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn with(text: &str) -> Scratch {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("kith-config-{}-{}.toml", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("the temporary directory is writable");
        Scratch { path }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
